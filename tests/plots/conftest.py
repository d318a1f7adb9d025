"""Figures are closed after each test: files run in any order, and what one leaves open counts against the next."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    pyplot.close("all")
