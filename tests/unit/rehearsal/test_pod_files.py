from __future__ import annotations

import json

import pytest

from gpu_lol_action.rehearsal.pod_files import STAND_IN_FILE, network_environment, resolv_conf, write_pod_files
from gpu_lol_action.rehearsal.pod_network import pick_subnet


def test_secrets_of_the_host_do_not_reach_a_pod():
    environ = {
        "GITHUB_TOKEN": "t",
        "RUNPOD_API_KEY": "k",
        "https_proxy": "http://p:1",
        "PIP_INDEX_URL": "https://i",
        "HOME": "/h",
    }
    kept = network_environment(environ)
    assert kept["https_proxy"] == "http://p:1"
    assert kept["PIP_INDEX_URL"] == "https://i"
    assert not {"GITHUB_TOKEN", "RUNPOD_API_KEY", "HOME"} & set(kept)


def test_resolver_on_the_hosts_own_loopback_is_passed_over(tmp_path):
    stub, real = tmp_path / "stub", tmp_path / "real"
    stub.write_text("nameserver 127.0.0.53\n")
    real.write_text("nameserver 192.0.2.1\n")
    assert resolv_conf([stub, real]) == real.read_text()
    assert resolv_conf([real, stub]) == real.read_text()


def test_pod_gets_its_name_its_facts_and_a_torch_that_pip_knows(tmp_path):
    image, upper = tmp_path / "image", tmp_path / "upper"
    (image / "usr/bin").mkdir(parents=True)
    for name in ("python3", "python3.9", "python3.11"):
        (image / "usr/bin" / name).touch()
    write_pod_files(upper, image, "pod1", {"torch_version": "2.8.0+cu128"})
    assert (upper / "etc/hostname").read_text() == "pod1\n"
    assert json.loads((upper / STAND_IN_FILE).read_text()) == {"torch_version": "2.8.0+cu128"}
    packages = upper / "usr/local/lib/python3.11/dist-packages"
    record = (packages / "torch-2.8.0+cu128.dist-info/RECORD").read_text().splitlines()
    assert all((packages / line.partition(",")[0]).exists() for line in record)
    assert "torch/__init__.py,," in record


def test_subnet_avoids_what_the_host_routes():
    routes = [{"dst": "default"}, {"dst": "10.213.0.0/24"}, {"dst": "10.213.1.128/25"}, {"dst": "local"}]
    assert pick_subnet(routes) == "10.213.2.0/24"


def test_host_that_routes_everything_private_is_told_so():
    with pytest.raises(RuntimeError, match="no free /24"):
        pick_subnet([{"dst": "10.0.0.0/8"}])
