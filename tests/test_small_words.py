"""Small things seen: names in other letters, help texts, lists of names, functions with kinks."""

import re
from collections import Counter

import pytest
import typer
from typer.testing import CliRunner

import onesided
import onesided.elements
from onesided.base.errors import ModelError
from onesided.base.names import nearest
from onesided.cli.app import app


def test_a_name_in_other_letters_is_found():
    assert nearest("kD", ["k", "kd", "kDamp"]) == "kd"
    system = onesided.System(("x",), lambda q, p, th: th.kd * (q[0] - p) ** 2, parameters={"k": 1.0, "kd": 2.0})
    with pytest.raises(ModelError, match="did you mean 'kd'"):
        system.replace(parameters={"kD": 3.0})


@pytest.mark.parametrize("word", ["where", "clip", "heaviside"])
def test_a_function_with_a_kink_is_refused_for_its_kink(word):
    with pytest.raises(ModelError, match=f"`{word}` has kinks") as caught:
        onesided.loads(f"energy='{word}(x,0)**2'\ncoordinates={{x=1.0}}\ncontrol={{range=[0,1]}}\n")
    assert f"{word}*(" not in str(caught.value)


def test_help_texts_are_whole():
    for name, command in typer.main.get_command(app).commands.items():
        texts = [command.help or "", *(getattr(one, "help", None) or "" for one in command.params)]
        shown = CliRunner().invoke(app, [name, "--help"]).output
        words = Counter(word for text in texts for word in re.findall(r"\[[\w/]+\]", text))
        for word, count in words.items():
            assert shown.count(word) >= count, (name, word)


def test_elements_are_listed():
    assert {"Bar", "Cable", "Node"} <= set(dir(onesided.elements))
