"""nbdev's setup.py is the same in all of its projects: what one needs stands in settings.ini."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.package_lists.nbdev_settings import read_nbdev_settings
from tests.unit.analysis.conftest import Build

SETUP = (
    "from configparser import ConfigParser\nimport setuptools, shlex\nconfig = ConfigParser(delimiters=['='])\n"
    "config.read('settings.ini')\ncfg = config['DEFAULT']\nrequirements = ['packaging']\n"
    "requirements += shlex.split(cfg.get('requirements', ''))\n"
    "setuptools.setup(name=cfg['lib_name'], install_requires=requirements, python_requires='>=' + cfg['min_python'])\n"
)
SETTINGS = (
    "[DEFAULT]\nlib_name = deep_birds\nuser = someone\nmin_python = 3.10\n"
    "requirements = torch>=2.0 'fastai>=2.7,<3' timm\\\n    fastcore[dev]>=1.5\n"
    "pip_requirements = kornia\nconda_requirements = pytorch\ndev_requirements = ipywidgets\n"
    "doc_baseurl = /%(lib_name)s/\n"
)


def test_requirements_stand_between_spaces_as_a_shells_words(checkout: Build) -> None:
    project = read_nbdev_settings(checkout({"settings.ini": SETTINGS}).sources[0])
    said = [(item.requirement, item.group) for item in project.declared]
    needed = ["torch>=2.0", "fastai>=2.7,<3", "timm", "fastcore[dev]>=1.5", "kornia"]
    assert said == [*((text, "") for text in needed), ("ipywidgets", "dev")]
    assert (project.name, project.python, project.is_installable) == ("deep-birds", ">=3.10", True)


def test_the_machine_gets_what_the_settings_name(checkout: Build) -> None:
    analysis = analyze(checkout({"setup.py": SETUP, "settings.ini": SETTINGS, "deep_birds/core.py": "import torch\n"}))
    found = set(analysis.spec.dependencies.requirements)
    assert {"packaging", "torch>=2.0", "fastai>=2.7,<3", "timm", "fastcore[dev]>=1.5", "kornia"} <= found
    assert not {"ipywidgets", "pytorch"} & found


@pytest.mark.parametrize(
    "text",
    [
        "[DEFAULT]\nrequirements = torch\n",  # another program's settings
        "requirements = torch\n",
        "[DEFAULT\nlib_name = x\n",
        "",
    ],
)
def test_what_is_no_settings_file_of_nbdev_asks_for_nothing(checkout: Build, text: str) -> None:
    tree = checkout({"settings.ini": text, "a.py": ""})
    source = next(source for source in tree.sources if source.path == "settings.ini")
    assert not read_nbdev_settings(source).declared


def test_a_quote_that_stays_open_hides_nothing(checkout: Build) -> None:
    text = "[DEFAULT]\nlib_name = x\nrequirements = torch 'timm\n"
    project = read_nbdev_settings(checkout({"settings.ini": text}).sources[0])
    assert project.declared[0].requirement == "torch"


@pytest.mark.parametrize(
    "name", ["apt-requirements.txt", "apt-system-requirements.txt", "requirements-apt.txt", "requirements.apt.txt"]
)
def test_a_list_for_the_system_names_no_packages_of_python(checkout: Build, name: str) -> None:
    analysis = analyze(checkout({name: "texlive-latex-extra\nffmpeg\n", "requirements.txt": "numpy\n"}))
    assert analysis.spec.dependencies.requirements == ("numpy",)


@pytest.mark.parametrize("name", ["requirements-adapters.txt", "aptos-requirements.txt", "captions_requirements.txt"])
def test_only_the_whole_word_says_so(checkout: Build, name: str) -> None:
    assert [source.path for source in checkout({name: "torch\n"}).sources] == [name]
