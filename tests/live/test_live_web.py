"""The live page over HTTP: who is let in, what is refused, what may be written, and which requests count."""

import http.client
import json
from collections import deque
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import onesided
from onesided import zoo
from onesided.base.errors import UsageError
from onesided.live.chosen_folder import ChosenFolder, OccupiedNameError
from onesided.live.exchange import Edit, Exchange, HandleMove, ParameterChange, Save, understood
from onesided.live.live_model import of_model
from onesided.live.serve import serve
from onesided.live.stop_flag import StopFlag
from onesided.live.web import MOST_BYTES, in_line, turning

TOKEN = "t" * 24


@pytest.fixture(scope="module")
def model():
    return of_model(zoo.load("von-mises"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return ChosenFolder.at(tmp_path_factory.mktemp("chosen"))


@pytest.fixture(scope="module")
def port(model, folder):
    """A real server."""
    with serve(model, "von-mises.toml", folder, address=(0, TOKEN), browser=False) as server:
        yield urlsplit(server.url).port


def get(port, path, method="GET", **headers):
    """Status, headers and text of an answer, to a request with just these headers."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"host": f"127.0.0.1:{port}", **headers}.items():
        line.putheader(name, value.format(port=port))
    line.endheaders()
    answer = line.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    line.close()
    return found


def socket_to(port, path=f"/{TOKEN}/socket", origin="http://127.0.0.1:{port}"):
    here = None if origin is None else origin.format(port=port)
    return connect(f"ws://127.0.0.1:{port}{path}", origin=here, max_size=None, proxy=None)


@pytest.fixture(scope="module")
def exchange(model, folder):
    made = Exchange(model, "von-mises.toml", folder)
    told = ask(made, kind="hello")
    assert [one["kind"] for one in told] == ["model", "state"]
    return made


def ask(exchange, **request):
    return exchange.answer(understood(json.dumps(request)), StopFlag())


def test_the_page_is_there_for_who_knows_the_token_and_loads_nothing(port):
    status, headers, text = get(port, f"/{TOKEN}/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert get(port, f"/{TOKEN}/", host="localhost:{port}")[0] == 200
    assert get(port, f"/{TOKEN}/", origin="http://127.0.0.1:{port}")[0] == 200
    assert get(port, f"/{TOKEN}/", method="POST")[0] == 405


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        (f"/{TOKEN[:-1]}/", {}),
        (f"/{TOKEN}x/", {}),
        (f"/{TOKEN}/../etc/passwd", {}),
        (f"//{TOKEN}/", {}),
        (f"/{TOKEN}/", {"host": "evil.example"}),
        (f"/{TOKEN}/", {"host": "evil.example:{port}"}),
        (f"/{TOKEN}/", {"host": "127.0.0.1:1"}),
        (f"/{TOKEN}/", {"origin": "http://evil.example"}),
        (f"/{TOKEN}/", {"origin": "null"}),
        (f"/{TOKEN}/", {"origin": "http://127.0.0.1:9"}),
        (f"/{TOKEN}/", {"origin": "https://127.0.0.1:{port}"}),
    ],
)
def test_everybody_else_finds_nothing(port, path, headers):
    status, _, text = get(port, path, **headers)
    assert (status, text.strip().lower()) == (404, "not found")


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        (f"/{TOKEN}/socket", None),  # not from a page
        (f"/{TOKEN}/socket", "http://evil.example"),
        (f"/{TOKEN}/socket", "null"),
        ("/wrong/socket", "http://127.0.0.1:{port}"),
        (f"/{TOKEN}/other", "http://127.0.0.1:{port}"),
    ],
)
def test_sockets_of_other_pages_are_refused(port, path, origin):
    with pytest.raises(InvalidStatus, match="403"), socket_to(port, path, origin):
        pass


def test_a_conversation_moves_the_system_and_refuses_what_it_does_not_understand(port):
    with socket_to(port) as socket:
        socket.send(json.dumps({"kind": "hello", "serial": 1}))
        told = {}
        while "scene" not in told:
            one = json.loads(socket.recv(20))
            told[one["kind"]] = one
        assert told["model"]["parameters"][0]["name"] == "k"
        assert told["scene"]["data"]["events"]
        socket.send("{not json")
        assert "not understood" in _next(socket, "error")["words"]
        socket.send(json.dumps({"kind": "move", "serial": 3, "turns": [0.05]}))
        assert [one["event"] for one in _next(socket, "state", 3)["news"]] == ["jump"]
        rested = _next(socket, "state", 0)  # a moment later, with all digits
        assert (rested["exact"], rested["p"]) == (True, 0.05)
        with pytest.raises(ConnectionClosed):
            socket.send("x" * (MOST_BYTES + 1))
            _next(socket, "nothing")


def _next(socket, kind, serial=None):
    while True:
        one = json.loads(socket.recv(20))
        if one["kind"] == kind and serial in {None, one["serial"]}:
            return one


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "unknown"},
        {"kind": "move", "turns": []},
        {"kind": "move", "turns": ["a"]},
        {"kind": "move", "turns": [float("nan")]},
        {"kind": "move", "turns": [0.0] * 201},
        {"kind": "change", "parameters": {"k": None}},
        {"kind": "edit", "text": "x" * 200_000},
        {"kind": "save", "what": "passwords", "name": "a"},
        {"kind": "hello", "more": 1},
        [],
    ],
)
def test_requests_that_are_none_are_refused_in_words(request_):
    with pytest.raises(UsageError, match="not understood"):
        understood(json.dumps(request_))


def test_an_error_in_the_text_is_told_at_its_line_and_the_model_stays(exchange, model):
    for wrong, line in (("[parameters]\nk = 1.0", "[parameters]\nk = 'one'"), ('p*y"', 'p*yy"'), ("h = 0.5", "h 0.5")):
        text = model.source.replace(wrong, line)
        assert text != model.source
        place = next(
            i for i, (a, b) in enumerate(zip(text.split("\n"), model.source.split("\n"), strict=True)) if a != b
        )
        (told,) = ask(exchange, kind="edit", serial=5, text=text)
        assert (told["kind"], told["serial"], told["spot"][0]) == ("error", 5, place + 1)
    assert exchange.session.model.source == model.source


def test_a_new_text_goes_on_from_the_old_state(exchange, model):
    ask(exchange, kind="move", turns=[0.1, 0.0])
    told = ask(exchange, kind="edit", text=model.source.replace("h = 0.5 ", "h = 0.6 "))
    assert told[0]["kind"] == "model"
    assert exchange.session.value("y") == pytest.approx(-0.6)  # it was down and stays down
    ask(exchange, kind="edit", text=model.source)
    ask(exchange, kind="restart")
    assert exchange.session.value("y") == pytest.approx(0.5)


def test_model_report_and_picture_are_saved_in_the_folder(exchange, folder):
    ask(exchange, kind="change", parameters={"h": 0.55})
    for what, name in (("model", "mine.toml"), ("report", "mine.html"), ("picture", "mine.svg")):
        (told,) = ask(exchange, kind="save", what=what, name=name)
        assert (told["kind"], told["name"]) == ("saved", name)
        (told,) = ask(exchange, kind="save", what=what, name=name)
        assert told["kind"] == "occupied"
        (told,) = ask(exchange, kind="save", what=what, name=name, replace=True)
        assert told["kind"] == "saved"
    system, task = onesided.load(folder.place / "mine.toml")
    assert dict(system.parameters) == {"k": 1.0, "b": 1.0, "h": 0.55}
    assert "# half span" in task.source  # what was not changed is as it was written
    assert sorted(file.name for file in folder.place.iterdir()) == ["mine.html", "mine.svg", "mine.toml"]


@pytest.mark.parametrize(
    "name",
    [
        "../x.toml", "/etc/x.toml", "a/b.toml", "a\\b.toml", ".hidden.toml", "", "x.py", "x.toml\0", "nul.toml",
        "x.toml.", "é.toml", "~x.toml",
    ],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(exchange, folder, name):
    before = sorted(folder.place.parent.rglob("*"))
    (told,) = ask(exchange, kind="save", what="model", name=name)
    assert told["kind"] == "error"
    assert sorted(folder.place.parent.rglob("*")) == before


def test_links_are_left_alone(tmp_path):
    outside = tmp_path / "outside.toml"
    outside.write_text("kept")
    place = tmp_path / "chosen"
    place.mkdir()
    chosen = ChosenFolder.at(place)
    (place / "link.toml").symlink_to(outside)
    (place / "dangling.toml").symlink_to(tmp_path / "new.toml")
    (place / "folder.toml").mkdir()
    for name in ("link.toml", "dangling.toml", "folder.toml"):
        with pytest.raises(UsageError, match="left alone"):
            chosen.target(name, (".toml",), replace=True)
    (place / "plain.toml").write_text("mine")
    with pytest.raises(OccupiedNameError):
        chosen.target("plain.toml", (".toml",), replace=False)
    place.rename(tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")  # the folder itself was exchanged for a link
    with pytest.raises(UsageError, match="left alone"):
        chosen.target("new.toml", (".toml",), replace=False)
    assert outside.read_text() == "kept"


def test_imports_stay_in_the_folder(tmp_path, model):
    (tmp_path / "secret.csv").write_text("name,x,y\nsecret,1,2\n")
    (tmp_path / "chosen").mkdir()
    (tmp_path / "chosen" / "link.csv").symlink_to(tmp_path / "secret.csv")
    made = Exchange(model, "m.toml", ChosenFolder.at(tmp_path / "chosen"))
    ask(made, kind="hello")
    for name in ("../secret.csv", "link.csv", str(tmp_path / "secret.csv")):
        (told,) = ask(
            made, kind="edit", text=f"[control]\nrange = [0, 1]\n[import]\nnodes = '{name}'\nmembers = '{name}'\n"
        )
        assert told["kind"] == "error"
        assert "secret,1,2" not in told["words"]
        assert "folder" in told["words"]


def test_of_waiting_requests_the_latest_count_and_no_turn_is_lost():
    def move(*turns):
        return HandleMove(kind="move", turns=list(turns))

    line = deque(in_line(deque([move(0.1, 0.3)]), move(0.2, 0.1, 0.4)))
    assert [one.turns for one in line] == [[0.1, 0.3, 0.1, 0.4]]
    line = deque(in_line(line, ParameterChange(kind="change", parameters={"k": 1.0, "b": 2.0})))
    line = deque(in_line(line, ParameterChange(kind="change", parameters={"k": 3.0})))
    assert [one.kind for one in line] == ["move", "change"]
    assert line[-1].parameters == {"k": 3.0, "b": 2.0}
    line = deque(in_line(line, Save(kind="save", what="model", name="a.toml")))
    line = deque(in_line(line, Edit(kind="edit", text="new")))
    assert [one.kind for one in line] == ["save", "edit"]
    assert turning([1.0]) == [1.0]
    assert turning([0.0, 1.0, 2.0, 1.5, 1.0, 3.0]) == [0.0, 2.0, 1.0, 3.0]


def test_a_page_that_comes_back_goes_on_where_it_was(model, folder):
    made = Exchange(model, "von-mises.toml", folder)
    standing = {"text": model.source, "parameters": {"h": 0.6, "gone": 1.0}, "p": 0.0, "q": [-0.6]}
    ask(made, kind="hello", standing=standing)
    assert made.session.value("y") == pytest.approx(-0.6)
    assert made.session.model.system.parameters["h"] == 0.6


def test_the_public_verb_serves_and_ends():
    system, _ = zoo.load("von-mises")
    with onesided.live(system, browser=False) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.url in repr(server)
    with pytest.raises(UsageError, match="token"):
        onesided.live(system, browser=False, token="short")
    with pytest.raises(UsageError, match="not a folder"):
        onesided.live(system, browser=False, folder="/nowhere/at/all")


def test_the_widget_carries_the_same_messages(model):
    widget = pytest.importorskip("onesided.live.notebook_widget", reason="anywidget is not installed")
    made = Exchange(model, "von-mises.toml")
    told = [one["kind"] for one in widget.answers(made, {"kind": "hello", "serial": 1})]
    assert told == ["model", "state", "state", "scene"]
    jumped, rested = widget.answers(made, {"kind": "move", "serial": 2, "turns": [0.05]})
    assert ([one["event"] for one in jumped["news"]], rested["exact"]) == (["jump"], True)
    assert [one["kind"] for one in widget.answers(made, {"kind": "steal"})] == ["error"]
    page = widget.LiveWidget(made).page
    assert "connect-src" not in page  # it may connect to nothing
    assert 'data-bridge="1"' in page
