from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Hardware, Meta, Smoke, Software, WorkloadType
from gpu_lol_action.domain.spec_text import HEADER, spec_mapping, write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec, parse_spec_file
from gpu_lol_action.errors import SpecError

# What gpu-lol itself writes: yaml.dump of its four sections, keys sorted, time without a zone.
ANCESTOR = """\
dependencies:
  asset_links:
  - /workspace/huggingface:/root/.cache/huggingface
  requirements:
  - torch==2.9.1+cu128
  - peft
  setup_commands:
  - pip install --upgrade pip --quiet
  - 'command -v node >/dev/null 2>&1 || (curl -fsSL https://deb.nodesource.com/setup_20.x
    | bash - && apt-get install -y nodejs)'
  system_packages: []
environment:
  base_image: runpod/pytorch:1.0.3-cu1290-torch291-ubuntu2204
  cuda_version: '12.1'
  python_version: '3.10'
hardware:
  gpu_count: 1
  gpu_type: A100-SXM4
  vram_required_gb: 80
meta:
  created_at: '2026-03-01T12:00:00.123456'
  created_from: snapshot
  name: gpu-lol-env
  workload_type: training
"""


def test_parse_spec_loads_what_gpu_lol_writes() -> None:
    spec = parse_spec(ANCESTOR)
    assert spec.hardware == Hardware("A100-80GB-SXM", 1, 80)  # its name for RunPod's card is no SkyPilot name
    assert spec.environment == Software("runpod/pytorch:1.0.3-cu1290-torch291-ubuntu2204", "3.10", "12.1")
    assert spec.dependencies.requirements == ("torch==2.9.1+cu128", "peft")
    assert spec.dependencies.setup_commands[1].startswith("command -v node")
    assert spec.meta == Meta("gpu-lol-env", WorkloadType.TRAINING, "snapshot", "2026-03-01T12:00:00.123456")


def test_parse_spec_knows_what_the_file_states() -> None:
    file = parse_spec_file("hardware: {gpu_type: null, gpu_count: 2}\nenv: {A: b}\n")
    assert file.stated == {"hardware", "hardware.gpu_count", "env"}


@pytest.mark.parametrize(
    ("text", "line", "what", "fix"),
    [
        ("hardware:\n  vrm: 3", 2, "no key `vrm`", ""),
        ("hardware:\n  vram: 3", 2, "no key `vram`", "`vram_required_gb`"),
        ("hardwre: {}", 1, "no key `hardwre`", "`hardware`"),
        ("meta:\n\n  workload_type: trainin", 3, "no workload", "`training`"),
        ("hardware:\n  gpu_type: RTX409O", 2, "No accelerator", "`RTX4090`"),
        ("hardware: {gpu_type: 'A40:99'}", 1, "at most 10", "`A40:10`"),
        ("hardware: {gpu_type: 'A40:2', gpu_count: 3}", 1, "2 cards", "one of the two"),
        ("hardware: {gpu_type: A40, gpu_count: 16}", 1, "at most 10", ""),
        ("hardware: {gpu_count: two}", 1, "whole number", ""),
        ("hardware: {gpu_count: 1.5}", 1, "whole number", ""),
        ("hardware: {gpu_count: -1}", 1, "whole number", ""),
        ("hardware: {vram_required_gb: 100000}", 1, "out of range", ""),
        ("hardware: {use_spot: 1}", 1, "`true` or `false`", ""),
        ("hardware: {gpu_type: yes}", 1, "true or false in YAML", "quotes"),
        ("environment: {python_version: no}", 1, "true or false in YAML", "quotes"),
        ("environment: {base_image: 'a b; rm'}", 1, "no image name", ""),
        ("hardware: {gpu_count: 1, gpu_count: 2}", 1, "twice", ""),
        ("dependencies: {requirements: torch}", 1, "must be a list", "[...]"),
        ("dependencies: {system_packages: ['-o x']}", 1, "Debian package", ""),
        ("dependencies: {asset_links: ['a:b']}", 1, "no link", ""),
        ("keep: [../secret]", 1, "leaves the checkout", ""),
        ("env: {GPU_LOL_X: y}", 1, "set by the tool", ""),
        ("env: {'a b': y}", 1, "no name of a variable", ""),
        ("smoke: {gpus: [L41]}", 1, "L41", ""),
        ("smoke: {images: [a b]}", 1, "no image name", ""),
        ("profiles: {UP: {}}", 1, "no profile name", ""),
        ("profiles: {a: {profiles: {}}}", 1, "no key `profiles` in a profile", ""),
        ("hardware: []", 1, "keys and values", ""),
        ("- 1", 1, "must hold sections", ""),
        ("hardware:\n\tgpu_count: 1", 2, "tab", ""),
        ("a: b: c", 1, "not valid YAML", ""),
        ("a: &x 1\nb: *x", 2, "aliases", "Write the value out"),
        ("a: &x {b: 1}\nc:\n  <<: {b: 1}", 1, "no key `a`", ""),
        ("hardware:\n  <<: {gpu_count: 1}", 2, "merge keys", ""),
        ("a: !!python/object/apply:os.system [ls]", 1, "tag", ""),
        ("hardware: {gpu_count: !x 1}", 1, "tag", ""),
        ("---\na: 1\n---\nb: 2", 3, "more than one document", ""),
        ("[" * 50, 1, "levels deep", ""),
        ("- " * 5000, 1, "levels deep", ""),
        ("a: [" + "x," * 6000 + "]", 1, "more than 5000", ""),
        ("#" + "x" * 300_000, 1, "KiB", ""),
        ('meta: {name: "\\u202egnp"}', 1, "U+202E", ""),
        ("meta:\n  name: \x07", 2, "U+0007", ""),
        ("meta: {name: \ud800}", 1, "U+D800", ""),
        ("env: {A\u202e: x}", 1, "AU+202E", ""),
    ],
)  # fmt: skip
def test_parse_spec_names_line_and_fix(text: str, line: int, what: str, fix: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    error = caught.value
    assert (error.line, error.path) == (line, ".gpu-lol.yaml")
    assert what in error.explanation.what
    assert fix in error.explanation.fix
    assert (error.explanation.what + error.explanation.fix).isprintable()


@pytest.mark.parametrize(
    ("written", "read"), [("22", 22), ("22.0", 22), ("22.5", 23), ("24GB", 24), ("'24 GiB'", 24), ("0", 0)]
)
def test_parse_spec_reads_sizes_as_people_write_them(written: str, read: int) -> None:
    assert parse_spec(f"hardware: {{vram_required_gb: {written}}}").hardware.vram_required_gb == read


def test_parse_spec_keeps_versions_as_they_are_written() -> None:
    assert parse_spec("environment: {python_version: 3.10}").environment.python_version == "3.10"


def test_parse_spec_reads_a_count_behind_the_card() -> None:
    hardware = parse_spec("hardware: {gpu_type: 'a100 80gb:2'}").hardware
    assert (hardware.gpu_type, hardware.gpu_count) == ("A100-80GB", 2)


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "hardware:\nmeta:\n"])
def test_parse_spec_takes_an_empty_file_for_the_defaults(text: str) -> None:
    assert parse_spec(text) == EnvironmentSpec()


def test_parse_spec_applies_profiles_over_the_whole_file() -> None:
    text = "profiles: {big: {hardware: {gpu_count: 8}, env: {B: c}}}\nhardware: {vram_required_gb: 40}\nenv: {A: b}\n"
    profile = parse_spec(text).profiles["big"]
    assert (profile.hardware.gpu_count, profile.hardware.vram_required_gb) == (8, 40)
    assert profile.env == {"A": "b", "B": "c"}
    assert profile.profiles == {}


@given(st.text(max_size=400))
def test_parse_spec_answers_any_text_with_a_spec_or_a_spec_error(text: str) -> None:
    lines = []
    try:
        parse_spec(text)
    except SpecError as error:
        lines.append(error.line)
    assert all(line >= 1 for line in lines)


_words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=30).filter(
    lambda text: text.strip() != "" and text.isprintable()
)
_specs = st.builds(
    EnvironmentSpec,
    hardware=st.builds(
        Hardware,
        gpu_type=st.sampled_from([None, "A40", "RTX4090"]),
        gpu_count=st.integers(0, 8),
        vram_required_gb=st.none() | st.integers(1, 300),
        use_spot=st.booleans(),
        disk_gb=st.none() | st.integers(10, 900),
        alternatives=st.sampled_from([(), ("A40", "L40S")]),
    ),
    environment=st.builds(Software, python_version=st.sampled_from([None, "3.10", "3.11"])),
    dependencies=st.builds(
        Dependencies,
        requirements=st.lists(_words, max_size=4).map(tuple),
        setup_commands=st.lists(_words, max_size=3).map(tuple),
    ),
    meta=st.builds(Meta, name=_words, workload_type=st.sampled_from(WorkloadType)),
    env=st.dictionaries(st.from_regex(r"[A-Z]{1,9}", fullmatch=True), _words, max_size=3),
    smoke=st.none() | st.builds(Smoke, command=_words, timeout_minutes=st.integers(1, 60)),
)


@given(_specs)
def test_write_spec_reads_back_as_the_same_spec_and_writes_the_same_bytes(spec: EnvironmentSpec) -> None:
    text = write_spec(spec)
    again = parse_spec(text)
    assert again == spec
    assert write_spec(again) == text
    assert text.startswith(HEADER)


def test_write_spec_writes_keys_in_the_order_of_the_table() -> None:
    spec = parse_spec(
        "meta: {name: x}\nhardware: {vram_required_gb: 2, gpu_type: A40}\nprofiles: {b: {hardware: {gpu_count: 2}}}\n"
    )
    mapping = yaml.safe_load(write_spec(spec))
    assert list(mapping) == ["hardware", "dependencies", "meta", "profiles"]
    assert list(mapping["hardware"]) == ["gpu_type", "gpu_count", "vram_required_gb"]
    assert mapping["profiles"] == {"b": {"hardware": {"gpu_count": 2}}}
    assert mapping == spec_mapping(spec)


@pytest.mark.parametrize(
    "text",
    ['a: "\\UFFFFFFFF"', 'a: "\\U00110000"', f"%YAML {'1' * 5000}.1\n---\na: b", "\\" * 10, "%YAML 1.1\n---\n'\\U"],
)
def test_parse_spec_answers_what_python_itself_refuses_inside_the_yaml_reader(text: str) -> None:
    with pytest.raises(SpecError):
        parse_spec(text)
