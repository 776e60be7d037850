# shellcheck shell=bash disable=SC2154  # machine_python.sh stands in front, and has set python
# Defines gpu_lol_inventory: what is installed here, line by line, fields between tabs. Set-up keeps it twice (before and
# after it installed anything); a snapshot holds against that what is here later.
#   python VERSION | cuda VERSION | image NAME | package NAME VERSION ORIGIN | system NAME | told packages | told system
# ORIGIN: empty (an index), an address, or why there is none that another machine could use: editable, local, private.
# "told" stands behind a list that is whole.
gpu_lol_inventory() {
  printf 'image\t%s\n' "${gpu_lol_image:-}"
  [ -z "$python" ] || (cd / && unset PYTHONPATH && gpu_lol_run <<'PYTHON'
import importlib.util
import json
import os
import re
import sys
from urllib.parse import urlsplit


def say(*fields):
    print("\t".join(re.sub(r"[^ -~]+", " ", str(field))[:500] for field in fields))


def origin(found):
    if (found.read_text("INSTALLER") or "").strip() == "conda":
        return ""  # its direct_url.json names a folder of whoever built it
    text = found.read_text("direct_url.json")
    if not text:
        place = str(found.locate_file(""))
        return "" if re.search(r"(site|dist)-packages", place) else "editable"  # a checkout on the path
    about = json.loads(text)
    url, version_control = str(about.get("url", "")), about.get("vcs_info")
    if (about.get("dir_info") or {}).get("editable"):
        return "editable"
    if url.startswith("file:"):
        return "local"
    parts = urlsplit(url)
    if parts.query or parts.password or parts.username:
        return "private"  # what may be a password does not leave the machine
    if version_control:
        url = "%s+%s@%s" % (version_control["vcs"], url, version_control["commit_id"])
    folder = about.get("subdirectory")
    return url + ("#subdirectory=" + folder if folder else "")


def cuda():
    try:
        with open("/usr/local/cuda/version.json", encoding="utf-8") as file:
            return json.load(file)["cuda"]["version"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    # Not imported: that takes seconds, and a GPU.
    torch = importlib.util.find_spec("torch")
    place = os.path.join(os.path.dirname(torch.origin), "version.py") if torch and torch.origin else ""
    if not os.path.isfile(place):
        return ""
    with open(place, encoding="utf-8", errors="replace") as file:
        stated = re.search(r"^cuda\b[^=\n]*=\s*['\"]([0-9.]+)['\"]", file.read(), re.MULTILINE)
    return stated.group(1) if stated else ""


say("python", "%d.%d.%d" % sys.version_info[:3])
say("cuda", cuda())
seen = set()
for found in metadata.distributions():
    try:
        about = found.metadata  # read and parsed anew each time that it is asked for
        name, version = about["Name"], about["Version"]
        key = re.sub(r"[-_.]+", "-", name).lower()
    except Exception:  # somebody's broken folder: the others count all the same
        say("package", "?", "", "")
        continue
    if key not in seen:  # the first on the path is the one that is imported
        seen.add(key)
        try:
            where = origin(found)
        except Exception:
            where = "private"
        say("package", name, version, where)
say("told", "packages")
PYTHON
  )
  local manual
  if manual=$(apt-mark showmanual 2> /dev/null < /dev/null); then
    printf '%s\n' "$manual" | sed -n 's/^[[:space:]]*\([^[:space:]]\{1,\}\)$/system\t\1/p'
    printf 'told\tsystem\n'
  fi
}
