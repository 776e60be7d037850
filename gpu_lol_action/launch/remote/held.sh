# shellcheck shell=bash disable=SC2154  # python, state and say come from the scripts around this one
# Defines gpu_lol_hold and gpu_lol_let_go: what the image was chosen for stays as it is while other packages are installed. xformers,
# torchcodec or an old triton would otherwise bring another PyTorch, for another CUDA than the driver of the machine may have.
# NVIDIA's own images do the same by PIP_CONSTRAINT; their builds are on no index and are left to that.

# gpu_lol_hold: from here on pip and uv take what goes with the image's. What the list itself asks for otherwise is not held.
gpu_lol_hold() {
  held=$state/held.txt
  gpu_lol_run "$state/requirements.txt" "$state/last_requirements.txt" > "$held" 2> /dev/null << 'PYTHON' || : > "$held"
import re, sys

try:
    from packaging.specifiers import SpecifierSet
except ImportError:
    try:
        from pip._vendor.packaging.specifiers import SpecifierSet
    except ImportError:
        SpecifierSet = None

# What is built for each other stays or goes together.
GROUPS = (("torch", "torchvision", "torchaudio"), ("tensorflow",), ("jax", "jaxlib"), ("paddlepaddle-gpu",), ("vllm", "torch"), ("sglang", "torch"))
asked = {}
for path in sys.argv[1:]:
    try:
        lines = open(path, encoding="utf-8").read().splitlines()
    except OSError:
        continue
    for line in lines:
        found = re.match(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", line.strip())
        if found:
            asked.setdefault(re.sub(r"[-_.]+", "-", found[1]).lower(), []).append(found[2].strip())


def allows(specifier, release):
    if not specifier:
        return True
    try:
        return SpecifierSet is not None and SpecifierSet(specifier.strip("()")).contains(release)
    except ValueError:  # an address, or what no standard reads: the list decides
        return False


held = {}
moves = set()
for group in GROUPS:
    there = {}
    for name in group:
        try:
            there[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    # A build with a suffix of its own (2.6.0a0) is on no index, and what asks for 2.6 refuses it.
    releases = {name: text.partition("+")[0] for name, text in there.items()}
    if any(not allows(specifier, release) for name, release in releases.items() for specifier in asked.get(name, ())):
        moves.update(group)
    held.update((name, release) for name, release in releases.items() if re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", release))
for name, release in held.items():
    if name not in moves:
        print(f"{name}=={release}")
PYTHON
  [ -s "$held" ] || return 0
  export PIP_CONSTRAINT="${PIP_CONSTRAINT:+$PIP_CONSTRAINT }$held" UV_CONSTRAINT="${UV_CONSTRAINT:+$UV_CONSTRAINT }$held"
  # What is compiled against another PyTorch than the one that runs does not load.
  export PIP_BUILD_CONSTRAINT="${PIP_BUILD_CONSTRAINT:+$PIP_BUILD_CONSTRAINT }$held"
  export UV_BUILD_CONSTRAINT="${UV_BUILD_CONSTRAINT:+$UV_BUILD_CONSTRAINT }$held"
}

# Once, and only where the installer names it in a contradiction: what needs another PyTorch than the image's gets it.
gpu_lol_let_go() {
  local line name release
  [ -s "${held:-}" ] || return 1
  grep -qE 'ResolutionImpossible|No solution found when resolving|No matching distribution found' "$said" || return 1
  while IFS= read -r line; do
    name=$(gpu_lol_spelled "${line%%==*}") release=$(printf %s "${line##*==}" | sed 's/\./\\./g')
    # pip names it as a constraint, by what it depends on, or in a build that has no other; uv by what is required.
    grep -qiE "\(constraint\) $name==|^ +$name $release(\+[^ ]*)? depends on|distribution found for $name==|(you require|and|no version of) $name==$release([^0-9.]|\$)" "$said" || continue
    let_go+=("$line")
  done < "$held"
  [ "${#let_go[@]}" -gt 0 ] || return 1
  : > "$held"
  echo "What is asked for needs another than the image's: once more without holding it."
}

# Says what was replaced: what only a build had otherwise is as it was.
gpu_lol_say_moved() {
  local line
  for line in ${let_go[@]+"${let_go[@]}"}; do
    [ "$(gpu_lol_run "${line%%==*}" <<< 'import sys; print(metadata.version(sys.argv[1]).partition("+")[0])' 2> /dev/null)" = "${line##*==}" ] ||
      say "note moved $line"
  done
}
