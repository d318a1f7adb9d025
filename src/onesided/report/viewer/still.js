themes(() => {}); // a page of still pictures
