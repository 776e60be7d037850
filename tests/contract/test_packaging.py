"""What is installed is what is locked, and what is built is what is there."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import pytest_socket
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gpu_lol_action import __version__
from gpu_lol_action.rehearsal.image import missing_packages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
LOCKS = {path.stem: path for path in sorted((ROOT / "requirements").glob("*.txt"))}
OWN_LOCKS = ("build", "cloud", "dev", "light")


def pinned(lock: str) -> list[Requirement]:
    """Return the requirements of a lock, each with its exact version and marker."""
    entries = re.findall(r"^([a-zA-Z0-9][^\\\n]*?)\s*\\$", LOCKS[lock].read_text(), flags=re.MULTILINE)
    return [Requirement(entry) for entry in entries]


@cache
def project() -> dict[str, object]:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared(lock: str) -> list[Requirement]:
    """Return what pyproject.toml asks for in a lock."""
    table = project()["project"]
    groups = project()["dependency-groups"]
    texts = {
        "build": groups["build"],
        "light": table["dependencies"],
        "cloud": [*table["dependencies"], *table["optional-dependencies"]["cloud"]],
        "dev": [*table["dependencies"], *groups["dev"]],
    }[lock]
    return [Requirement(text) for text in texts]


def tracked_files() -> list[Path]:
    """Return the files that git tracks, those that are still only in the working tree included."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_pins_every_requirement_with_hashes(lock: str) -> None:
    blocks = re.split(r"\n(?=[a-zA-Z0-9])", LOCKS[lock].read_text())
    blocks = [block for block in blocks if not block.startswith("#")] or blocks
    assert len(blocks) > 3
    for block in blocks:
        name = block.splitlines()[0]
        assert "==" in name, f"not pinned: {name}"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), f"no hash: {name}"


@pytest.mark.parametrize("lock", OWN_LOCKS)
def test_lock_satisfies_pyproject(lock: str) -> None:
    versions: dict[str, list[str]] = {}
    for entry in pinned(lock):
        versions.setdefault(canonicalize_name(entry.name), []).append(str(entry.specifier).removeprefix("=="))
    for wanted in declared(lock):
        found = versions.get(canonicalize_name(wanted.name), [])
        assert found, f"{wanted.name} is not locked: run `make lock`"
        assert all(wanted.specifier.contains(version) for version in found), (
            f"{wanted} is locked at {found}: run `make lock`"
        )


def test_locks_agree_where_they_overlap() -> None:
    versions: dict[str, dict[str, frozenset[str]]] = {}
    for lock in OWN_LOCKS:
        by_name: dict[str, set[str]] = {}
        for entry in pinned(lock):
            by_name.setdefault(canonicalize_name(entry.name), set()).add(str(entry.specifier))
        for name, specifiers in by_name.items():
            versions.setdefault(name, {})[lock] = frozenset(specifiers)
    disagreements = {name: locks for name, locks in versions.items() if len(set(locks.values())) > 1}
    assert disagreements == {}


def test_light_install_has_nothing_heavy() -> None:
    names = {canonicalize_name(entry.name) for entry in pinned("light")}
    assert {"pygithub", "httpx", "jinja2"} <= names
    heavy = {
        "skypilot",
        "pandas",
        "numpy",
        "ray",
        "runpod",
        "boto3",
        "sqlalchemy",
        "fastapi",
        "grpcio",
        "torch",
        "aiohttp",
    }
    assert names & heavy == set()
    assert len(names) <= 35, f"the light install grew to {len(names)} packages; each is paid at every comment"


def test_no_tracked_file_names_a_package_index() -> None:
    # Put together here, so that this file may be searched as well.
    domains = [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("anaconda", "org"), ("pytorch", "org/whl")]
    # A mirror ends in /simple or goes on below it; a project may be called simple-knn.
    index = re.compile("|".join([*(rf"{name}\.{top}" for name, top in domains), r"https?://[^\s\"']+/simple(?![\w-])"]))
    found = [
        f"{path.relative_to(ROOT)}: {match}"
        for path in tracked_files()
        for match in index.findall(path.read_bytes().decode(errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_configures_no_index(lock: str) -> None:
    assert re.findall(r"^\s*--(?!hash=)\S+|://\S+", LOCKS[lock].read_text(), flags=re.MULTILINE) == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel as a release does; nothing is downloaded for it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_wheel_carries_package_templates_and_tables(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    in_package = [path for path in tracked_files() if path.is_relative_to(ROOT / "gpu_lol_action")]
    missing = {str(path.relative_to(ROOT)) for path in in_package} - names
    assert missing == set()
    templates = [path for path in tracked_files() if path.is_relative_to(ROOT / "templates")]
    assert templates
    missing = {f"gpu_lol_action/{path.relative_to(ROOT)}" for path in templates} - names
    assert missing == set()


def test_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {re.sub(r"-[0-9][^-]*\.dist-info$", "", top) for top in tops} == {"gpu_lol_action"}


def test_wheel_starts_both_doors(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    entry_points = wheel.read(name).decode()
    assert "gpu-lol = gpu_lol_action.cli:main" in entry_points
    assert "gpu-lol-action = gpu_lol_action.__main__:main" in entry_points


def test_version_stands_in_one_place() -> None:
    says_version = re.compile(rf"version[\W_]{{1,8}}v?{re.escape(__version__)}(?![\w.])", re.IGNORECASE)
    assert "version" not in project()["project"], "hatch reads it from the package"
    named = [
        str(path.relative_to(ROOT))
        for path in tracked_files()
        if path.suffix in {".py", ".toml", ".yml", ""} and "tests" not in path.parts and "examples" not in path.parts
        if says_version.search(path.read_bytes().decode(errors="replace"))
    ]
    assert named == ["gpu_lol_action/__init__.py"]


def test_wheel_has_that_version(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    assert f"\nVersion: {__version__}\n" in wheel.read(name).decode()


def test_changelog_has_a_section_for_that_version_and_release_notes_prints_it_alone(tmp_path: Path) -> None:
    notes = load_script("release-notes").notes
    changelog = "# C\n\n## Unreleased: 1.2.0\n\nnew\n\n## 1.1.0 (2026-01-02)\n\n- a\n\n### Fixed\n\n- b\n\n## 1.0.0 (2026-01-01)\n\nold\n"
    assert notes(changelog, "1.1.0") == "- a\n\n### Fixed\n\n- b"
    assert notes(changelog, "1.0.0") == "old"
    assert notes(changelog, "1.2.0") is None, "what is not released has no notes"
    assert notes(changelog, "1.2.0", is_draft=True) == "new"
    assert notes(changelog, "1.1") is None
    own = (ROOT / "CHANGELOG.md").read_text()
    assert notes(own, __version__) or notes(own, __version__, is_draft=True)


def load_script(name: str) -> ModuleType:
    """Return a script of ours as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_image_is_built_from_what_git_tracks_and_is_locked() -> None:
    """Everything that Dockerfile copies is let through by .dockerignore, and each install has hashes or no index."""
    text = (ROOT / "Dockerfile").read_text()
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.*)$", text, flags=re.MULTILINE) for word in line.split()[:-1]
    ]
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    tracked = {str(path.relative_to(ROOT)) for path in tracked_files()}
    assert {word.split("/")[0] for word in copied} == let_in
    for word in copied:
        assert word in tracked or any(name.startswith(word) for name in tracked), word
    for install in re.findall(r"pip [^&|]*?install ([^&\n]*)", text):
        assert "--no-deps" in install
        assert "--require-hashes" in install or "--no-index" in install
    assert re.search(r"^USER 1001$", text, flags=re.MULTILINE), "not as root"
    assert text.rstrip().endswith('ENTRYPOINT ["gpu-lol-action"]'), "exec form: signals reach the program itself"


def test_release_publishes_by_digest_with_provenance_and_only_full_versions() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow[True]["push"]["tags"] == ["v[0-9]+.[0-9]+.[0-9]+"]
    steps = {name: job["steps"] for name, job in workflow["jobs"].items()}
    attested = [step["with"] for step in steps["image"] if "attest" in step.get("uses", "")]
    assert attested[0]["subject-digest"] == "${{ steps.push.outputs.digest }}"
    assert [step for step in steps["publish"] if "attest" in step.get("uses", "")]
    assert "CHANGELOG.md" not in yaml.safe_dump(workflow), "the section of this version, not the whole file"
    assert any("scripts/release-notes" in step.get("run", "") for step in steps["build"])
    for job in workflow["jobs"].values():
        assert "id-token" not in job["permissions"] or job["environment"] == "release"


def test_checks_include_the_linters_of_workflows_image_and_code() -> None:
    commands = re.findall(r'^check "[^"]+" "\$bin/(.*)$', (ROOT / "scripts" / "check").read_text(), flags=re.MULTILINE)
    wanted = {
        "zizmor": {"--offline", "--strict-collection", "--persona=auditor"},
        "hadolint": {"style", "Dockerfile"},
        "bandit": {"gpu_lol_action", "scripts"},
        "check-jsonschema": {"vendor.github-workflows"},
    }
    for tool, words in wanted.items():
        assert any(command.startswith(f'{tool}"') and words <= set(command.split()) for command in commands), tool
    assert any("vendor.github-actions action.yml" in command for command in commands)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"#\s*zizmor: ignore\[[\w-]+\]", r"\] \S+ \S+"),
        (r"#\s*nosec\b", r"#[^#]*\w \w[^#]*# nosec B\d{3}$"),
        (r"#\s*hadolint ignore=", None),
        (r"#\s*shellcheck disable=", r"=SC\d+\s+# \w+ \w+"),
    ],
)
def test_each_exception_has_its_reason_beside_it(pattern: str, reason: str | None) -> None:
    found = 0
    for path in tracked_files():
        if path.suffix in {".md", ".json", ".txt"} or path == Path(__file__) or "tests" in path.parts:
            continue
        lines = path.read_bytes().decode(errors="replace").splitlines()
        for number, line in enumerate(lines):
            if re.search(pattern, line) and 'f"' not in line and '= "' not in line:
                found += 1
                above = lines[number - 1].strip()
                has_reason = bool(reason and re.search(reason, line)) or above.startswith("#")
                assert has_reason, f"{path.relative_to(ROOT)}:{number + 1}: {line.strip()}"
    assert found


def test_system_check_names_what_is_missing_in_one_line(tmp_path: Path) -> None:
    for program in ("bash", "env", "id", "make", "dirname"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    (tmp_path / "python3").symlink_to(sys.executable)
    answer = subprocess.run(
        [str(ROOT / "scripts" / "install-system"), "machines", "--check"],
        env={"PATH": str(tmp_path), "SSL_CERT_FILE": "/dev/null"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("Missing: git openssh-client ")
    assert " rsync mmdebstrap " in line
    assert ". As root: apt-get install git openssh-client " in line


def test_system_install_knows_what_the_rehearsal_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    script = (ROOT / "scripts" / "install-system").read_text()
    installed = set(re.findall(r"^ +need \S+ (\S+)$", script, flags=re.MULTILINE))
    essential = {"coreutils"}
    assert "mmdebstrap" in missing_packages()
    assert set(missing_packages()) - essential - installed == set()


def test_tests_reach_only_the_loopback() -> None:
    # 192.0.2.1 is reserved for documentation; the guard must answer before the network does.
    with socket.socket() as outward, pytest.warns(UserWarning, match=r"192\.0\.2\.1"):  # noqa: SIM117 one line would hide both
        with pytest.raises(pytest_socket.SocketConnectBlockedError):
            outward.connect(("192.0.2.1", 80))
