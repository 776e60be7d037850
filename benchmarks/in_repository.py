"""What a project in a folder is told as one of its repository, beside what it is told alone.

    python benchmarks/in_repository.py ROOT [--every 2] [--show]

ROOT is as for ``repositories.py``; each of its cases that is a folder of a repository is analyzed twice: the folder by itself, as if
there were nothing else, and named by ``analysis.folders`` in its checkout. Printed are how many import a library of their own
repository, from where that was installed before (the package index, the repository's main branch, not at all), whether this
checkout's is installed now, and where memory, cards or workload differ. Nothing is executed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from repositories import folder_of, read_cases

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout, Source, read_checkout
from gpu_lol_action.analysis.files.located import read_in_folder
from gpu_lol_action.analysis.formats.import_names import is_standard, package_of
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.analysis import Analysis

_BASES = ("", "src", "python", "lib")


def libraries_above(whole: Checkout, folder: str) -> frozenset[str]:
    """Return the packages that lie in the folders above one, at their top or in `src`, and that its programs import."""
    parts = folder.split("/")
    above = ["/".join(parts[:count]) for count in range(len(parts))]
    bases = {f"{each}/{inner}".strip("/") for each in above for inner in _BASES}
    tops = set()
    for source in whole.sources:
        place, _, name = source.path.rpartition("/")
        base, _, top = place.rpartition("/")
        if name == "__init__.py" and place and base in bases and f"{base}/__init__.py".lstrip("/") not in whole.by_path:
            tops.add(top)
    inside = [source for source in whole.sources if source.path.startswith(f"{folder}/")]
    own = {word.removesuffix(".py") for source in inside for word in source.path.removeprefix(folder).split("/")}
    return frozenset(top for top in _imported(inside) if top in tops and top not in own and not is_standard(top))


def _imported(sources: Sequence[Source]) -> Iterator[str]:
    for source in sources:
        imports = source.code.imports if source.code is not None else ()
        yield from (item.module.partition(".")[0] for item in imports)


def source_of(top: str, analysis: Analysis) -> str:
    """Return from where a package is installed by its name: the index, a repository, or not at all."""
    names = {package_name(top), package_name(package_of(top) or top)}
    found = [each for each in analysis.spec.dependencies.requirements if package_name(each) in names]
    return "not at all" if not found else "a repository's branch" if "git+" in found[0] else "the index"


def main() -> int:
    """Compare the folders, and print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--every", type=int, default=1, help="look at every n-th folder")
    parser.add_argument("--show", action="store_true", help="name the folders whose library is not this checkout's")
    words = parser.parse_args()
    cases = [case for case in read_cases(None) if case["subdir"] and folder_of(words.root, case).is_dir()]
    places = dict.fromkeys((folder_of(words.root, {**case, "subdir": ""}), str(case["subdir"])) for case in cases)
    counts: Counter[str] = Counter()
    for root, folder in list(places)[:: words.every]:
        counts["folders"] += 1
        alone, named = analyze(read_checkout(root / folder)), analyze(read_in_folder(root, folder))
        tops = libraries_above(read_checkout(root, folder=folder), folder)
        if tops:
            before = {source_of(top, alone) for top in tops}
            worst = next(each for each in ("not at all", "a repository's branch", "the index") if each in before)
            is_own = any(" -e " in command for command in named.spec.dependencies.setup_commands)
            counts["of a library of their repository"] += 1
            counts[f"  alone it came from: {worst}"] += 1
            counts["  this checkout's is installed"] += is_own
            if words.show and not is_own:
                print(f"{root.name} {folder}: {', '.join(sorted(tops))}, alone from: {worst}")
        if alone.spec.meta.workload_type != named.spec.meta.workload_type or _cards(alone) != _cards(named):
            counts["other workload, memory or cards"] += 1
            print(f"{root.name} {folder}: {_cards(alone)} -> {_cards(named)}")
    for what, count in counts.items():
        print(f"{count:6} {what}")
    return 0


def _cards(analysis: Analysis) -> str:
    hardware = analysis.spec.hardware
    return f"{hardware.gpu_count} x {hardware.needed_gib} GiB"


if __name__ == "__main__":
    sys.exit(main())
