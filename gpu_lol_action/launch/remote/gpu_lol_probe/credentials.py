"""Credentials that must not be here: files of cloud tools, private keys, and variables of running processes.

Only names and places are reported, never a value.
"""

from __future__ import annotations

import base64
import glob
import json
import os
import re
import sys
from typing import Dict, List, Set

from .tools import MARK, Facts, read, run

FILES = {
    "AWS": ".aws/credentials",
    "Azure": ".azure/accessTokens.json",
    "Azure login": ".azure/msal_token_cache.json",
    "Cloudflare R2": ".cloudflare/r2.credentials",
    "DigitalOcean": ".config/doctl/config.yaml",
    "Docker registry": ".docker/config.json",
    "Fluidstack": ".fluidstack/api_key",
    "Git": ".git-credentials",
    "GitHub CLI": ".config/gh/hosts.yml",
    "Google Cloud": ".config/gcloud/application_default_credentials.json",
    "Google Cloud accounts": ".config/gcloud/credentials.db",
    "Hugging Face": ".cache/huggingface/token",
    "Kubernetes": ".kube/config",
    "Lambda": ".lambda_cloud/lambda_keys",
    "Modal": ".modal.toml",
    "Nebius": ".nebius/NEBIUS_IAM_TOKEN.txt",
    "Netrc": ".netrc",
    "OCI": ".oci/config",
    "Paperspace": ".paperspace/config.json",
    "Prime Intellect": ".prime/config.json",
    "RunPod": ".runpod/config.toml",
    "Shadeform": ".shadeform/api_key",
    "Vast": ".vast_api_key",
    "Vast (XDG)": ".config/vastai/vast_api_key",
    "PyPI": ".pypirc",
}
# A file of these is harmless without one of these words in it (a Docker config may just name a helper).
NEEDS_WORD = {"Docker registry": r'"auth"\s*:\s*"[^"]', "Kubernetes": r"(?i)token|client-key|password|exec:"}
VARIABLE = re.compile(
    r"(?:^|_)(?:API_?KEY|APIKEY|ACCESS_KEY|SECRET_ACCESS_KEY|SECRET_KEY|SECRET|TOKEN|PASSWORD|CREDENTIALS)$|^GPU_LOL_SECRET|^AWS_SESSION_TOKEN$"
)
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
HARMLESS_VARIABLES = {"JUPYTER_TOKEN", "JUPYTER_PASSWORD"}  # they open only this machine


def gather(request: Facts) -> Facts:
    """Look as root where we may (by sudo): other users' files and processes are part of the machine."""
    if os.geteuid() != 0:
        asked = base64.b64encode(json.dumps(request).encode()).decode()
        home = "HOME=" + os.path.expanduser("~")
        code, out, _ = run(["sudo", "-n", "env", home, sys.executable, sys.argv[0], "worker-credentials", asked], 60)
        for line in reversed(out.splitlines()):
            if code == 0 and line.startswith(MARK):
                return dict(json.loads(line[len(MARK) :]))
    return search(request)


def credentials_worker(arguments: List[str]) -> None:
    """Be the part that sudo started."""
    sys.stdout.write("\n" + MARK + json.dumps(search(json.loads(base64.b64decode(arguments[0])))) + "\n")
    sys.stdout.flush()


def search(request: Facts) -> Facts:
    """Return findings as ``{"where": ..., "what": ...}``, and what the platform itself scopes to this machine."""
    found: List[Dict[str, str]] = []
    allowed: Set[str] = set(request["allowed_variables"])
    for home in sorted({os.path.expanduser("~"), "/root", *glob.glob("/home/*")}):
        found += _files(home)
    scoped, in_processes, unread = _processes(allowed)
    found += in_processes
    for path in ("/etc/environment", *sorted(glob.glob("/etc/profile.d/*.sh"))):
        for name in re.findall(r"(?m)^\s*(?:export\s+|declare -x\s+)?([A-Za-z_][A-Za-z0-9_]*)=\S", read(path)):
            if _is_credential(name, allowed) and name not in scoped:
                found.append({"where": path, "what": name})
    return {"found": found[:50], "scoped": sorted(scoped), "unread_processes": unread}


def _files(home: str) -> List[Dict[str, str]]:
    found = []
    for what, name in FILES.items():
        path = os.path.join(home, name)
        if os.path.isfile(path) and os.path.getsize(path):
            if what in NEEDS_WORD and not re.search(NEEDS_WORD[what], read(path)):
                continue
            found.append({"where": path, "what": what + " credential"})
    places = [
        os.path.join(home, ".ssh/*"),
        os.path.join(home, ".sky/**/*"),
        os.path.join(home, "*.pem"),
        os.path.join(home, "*.key"),
    ]
    for pattern in places:
        paths = (path for path in sorted(glob.glob(pattern, recursive=True))[:5000] if os.path.isfile(path))
        found += [{"where": path, "what": "private key"} for path in paths if PRIVATE_KEY.search(read(path, 200))]
    return found


def _processes(allowed: Set[str]) -> "tuple[Set[str], List[Dict[str, str]], int]":
    """Look at each process's starting environment. RunPod gives the first process a key that is good for this pod only."""
    first = _environment("1")
    scoped = {"RUNPOD_API_KEY"} if first.get("RUNPOD_POD_ID") and first.get("RUNPOD_API_KEY") else set()
    found: List[Dict[str, str]] = []
    seen: Set[str] = set()
    unread = 0
    for process in sorted((name for name in os.listdir("/proc") if name.isdigit()), key=int):
        variables = _environment(process)
        unread += not variables and not os.access("/proc/%s/environ" % process, os.R_OK)
        for name, value in variables.items():
            is_same_scoped = name in scoped and value == first.get(name)
            if value and _is_credential(name, allowed) and not is_same_scoped and name not in seen:
                seen.add(name)
                command = read("/proc/%s/comm" % process, 40).strip()
                found.append({"where": "environment of process %s (%s)" % (process, command), "what": name})
    return scoped, found, unread


def _environment(process: str) -> Dict[str, str]:
    pairs = (entry.partition("=") for entry in read("/proc/%s/environ" % process).split("\0"))
    return {name: value for name, separator, value in pairs if separator}


def _is_credential(name: str, allowed: Set[str]) -> bool:
    return bool(VARIABLE.search(name.upper())) and name not in allowed and name not in HARMLESS_VARIABLES
