"""Pages of a documentation folder speak where the README sends a reader to them."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.linked_pages import MAX_PAGES, documents_and_linked_pages
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
PAGE = "# Train\n```bash\naccelerate launch train_{}.py\n```\n"
FILES = {
    "docs/large.md": PAGE.format("large"),
    "docs/small.md": PAGE.format("small"),
    "docs/api.md": PAGE.format("any"),
    **{f"train_{name}.py": TRAIN for name in ("any", "large", "small")},
}


def test_the_first_page_that_the_readme_links_tells_what_is_started(checkout: Build) -> None:
    readme = "# Foo\n* [Small](./docs/small.md)\n* [Large](docs/large.md#start)\n* [Gone](docs/gone.md)\n"
    run = primary_run(checkout({"README.md": readme, **FILES}))

    assert run is not None
    assert (run.shown, str(run.evidence)) == ("accelerate train_small.py", "docs/small.md:3")


def test_a_page_that_the_readme_links_tells_more_than_one_beside_a_configuration(checkout: Build) -> None:
    deep = {"configs/a/README.md": "# A\n## Reproduce\n```\ntorchrun --nproc_per_node 8 train_large.py\n```\n"}
    # `README.md` may be a link to that file, which is not followed.
    run = primary_run(checkout({"README_CN.md": "# Foo\n[Small](docs/small.md)\n", **FILES, **deep}))

    assert run is not None
    assert str(run.evidence) == "docs/small.md:3"


def test_pages_that_nobody_links_are_a_reference(checkout: Build) -> None:
    run = primary_run(checkout({"README.md": "# Foo\nSee https://foo.dev/docs/small.md\n", **FILES}))

    assert run is not None
    assert run.command is None


def test_what_the_readme_itself_starts_comes_first(checkout: Build) -> None:
    readme = "# Foo\n```\npython train_large.py\n```\n[Small](docs/small.md)\n"
    run = primary_run(checkout({"README.md": readme, **FILES}))

    assert run is not None
    assert str(run.evidence) == "README.md:3"


def test_links_out_of_the_checkout_and_hundreds_of_them_lead_nowhere(checkout: Build) -> None:
    links = "".join(f"[x](docs/{number}.md)\n" for number in range(40))
    pages = {f"docs/{number}.md": "# x\n" for number in range(40)}
    outside, linked = documents_and_linked_pages(checkout({"README.md": f"[a](../../docs/a.md)\n{links}", **pages}))

    assert [source.path for source in outside] == ["README.md"]
    assert [source.path for source in linked] == [f"docs/{number}.md" for number in range(MAX_PAGES)]


@pytest.mark.parametrize(
    ("name", "more", "is_followed"),
    [
        ("getting_started", "", True),
        ("getting_started", "```\nls\n```\n", False),  # it tells something itself
        ("getting_started", "word " * 1000, False),
        ("index", "", False),
    ],
)
def test_a_short_page_that_only_hands_on_leads_to_the_next(
    checkout: Build, name: str, more: str, *, is_followed: bool
) -> None:
    page = f"# Begin\n## Small\nSee [small](small.md).\n{more}"
    tree = checkout({"README.md": f"# Foo\n[Begin](docs/{name}.md)\n", f"docs/{name}.md": page, **FILES})
    run = primary_run(tree)
    assert run is not None
    assert (run.evidence.path == "docs/small.md") is is_followed


def test_where_the_root_has_no_readme_that_of_the_documentation_folder_stands_for_it(checkout: Build) -> None:
    tree = checkout({"docs/README.md": PAGE.format("small"), **FILES})
    outside, linked = documents_and_linked_pages(tree)

    assert [source.path for source in outside] == ["docs/README.md"]
    assert linked == []


def test_a_page_that_the_readme_links_on_the_hub_is_the_release_s_own(checkout: Build) -> None:
    link = "https://huggingface.co/acme/acme-m2/blob/main/docs/vllm_deploy_guide.md"
    _, linked = documents_and_linked_pages(
        checkout(
            {
                "README.md": f"See our [guide]({link}).\n",
                "docs/vllm_deploy_guide.md": "# Deploy\n",
                "docs/api.md": "# API\n",
            }
        )
    )
    assert [page.path for page in linked] == ["docs/vllm_deploy_guide.md"]
