"""Projects of spaCy train what their workflow says, on a card where one is named or a transformer asks for it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

PROJECT = """
title: Ours
vars:
  gpu_id: {gpu}
  config: {config}
workflows:
  all:
    - second
  other:
    - first
commands:
  - name: first
    script:
      - "python -m spacy train configs/small.cfg --output out/"
  - name: second
    script:
      - "python -m spacy convert a.json b.spacy"
      - >-
        python -m spacy train configs/${{vars.config}}.cfg
        --output out/ --gpu-id ${{vars.gpu_id}}
"""
SMALL = '[paths]\ntrain = null\n\n[nlp]\nlang = "en"\nbatch_size = 1000\n\n[components.tok2vec]\nfactory = "tok2vec"\n'
LARGE = """[nlp]
lang = "en"
batch_size = 128

[components.transformer]
factory = "transformer"

[components.transformer.model]
@architectures = "spacy-transformers.TransformerModel.v3"
name = "roberta-base"
mixed_precision = true

[training.batcher]
@batchers = "spacy.batch_by_padded.v1"
size = 2000
"""
CONFIGS = {"configs/small.cfg": SMALL, "configs/large.cfg": LARGE}


def tree_of(checkout: Build, gpu: str, config: str):
    return checkout({"project.yml": PROJECT.format(gpu=gpu, config=config), **CONFIGS})


def test_the_workflow_for_all_is_what_a_project_starts(checkout: Build) -> None:
    commands = launch_commands(tree_of(checkout, "0", "large"))

    assert [(each.target, each.section) for each in commands] == [("spacy train", "second"), ("spacy train", "first")]
    assert (commands[0].options["gpu_id"], commands[0].configs) == ("0", ("configs/large.cfg",))
    assert commands[0].evidence.line == 18


@pytest.mark.parametrize(
    ("gpu", "config", "needs"),
    [("-1", "small", False), ('""', "small", False), ("0", "small", True), ("-1", "large", True), ("0", "large", True)],
)
def test_a_card_is_needed_where_one_is_named_or_a_transformer_is_trained(
    checkout: Build, gpu: str, config: str, needs: bool
) -> None:
    found = analyze(tree_of(checkout, gpu, config)).spec
    names = set(found.dependencies.requirements)

    assert found.meta.workload_type.value == ("training" if needs else "cpu-only")
    assert ("cupy-cuda12x" in names, "spacy-transformers" in names) == (needs, config == "large")
    assert "spacy" in names


def test_a_training_that_a_document_shows_is_read_as_well(checkout: Build) -> None:
    readme = "# Ours\n```\npython -m spacy download en\npython -m spacy train configs/large.cfg -g 0 -o out\n```\n"
    run = primary_run(checkout({"README.md": readme, **CONFIGS}))

    assert run is not None
    assert (run.shown, run.configs[0].path) == ("spacy train", "configs/large.cfg")


def test_a_pipeline_says_its_transformer_and_the_words_of_a_batch(checkout: Build) -> None:
    tree = checkout({**CONFIGS, "setup.cfg": "[metadata]\nname = ours\n"})
    said = {source.path: {each.key: each.text for each in read_settings(source)} for source in tree.sources}

    assert said["configs/large.cfg"] == {"model_name": "roberta-base", "fp16": "true", "max_batch_tokens": "4000"}
    assert said["configs/small.cfg"] == said["setup.cfg"] == {}


def test_other_files_of_that_name_start_nothing(checkout: Build) -> None:
    text = "title: Ours\ncommands: spacy train a.cfg\nsite:\n  build: spacy train a.cfg --gpu-id 0\n"
    assert launch_commands(checkout({"project.yml": text})) == ()
