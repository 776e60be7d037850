from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.rehearsal.catalog import rented_gpus
from gpu_lol_action.rehearsal.cloud_account import Account, Fault, Pod
from gpu_lol_action.rehearsal.cloud_pods import parse_image_versions, stand_in_facts
from gpu_lol_action.rehearsal.cloud_server import read_fault

ORDER = {"name": "gl-x-1-head", "gpuTypeId": "NVIDIA A40", "dataCenterId": "US-CA-1,US-TX-3"}


def make_pod(tmp_path, **changes):
    fields = {
        "pod_id": "p1",
        "number": 2,
        "request": ORDER,
        "gpu": rented_gpus()["NVIDIA A40"],
        "gpu_count": 2,
        "price_usd_per_hour": Decimal("0.88"),
        "api_key": "rpa_POD_1",
        "folder": tmp_path,
        "created_at": datetime.now(timezone.utc) - timedelta(minutes=90),
    }
    return Pod(**{**fields, **changes})


def test_faults_fire_as_often_as_asked_and_then_no_more():
    account = Account("key")
    account.faults.append(Fault("podTerminate", "no", times=2))
    fired = [account.take_fault("podTerminate", {}) is not None for _ in range(3)]
    assert fired == [True, True, False]


@pytest.mark.parametrize(
    ("fault", "is_hit"),
    [
        (Fault("*", "no"), True),
        (Fault("podTerminate", "no"), False),
        (Fault("podFindAndDeployOnDemand", "no", gpu_type_id="NVIDIA A40"), True),
        (Fault("podFindAndDeployOnDemand", "no", gpu_type_id="NVIDIA L4"), False),
        (Fault("podFindAndDeployOnDemand", "no", data_center="US-TX-3"), True),
        (Fault("podFindAndDeployOnDemand", "no", data_center="EU-RO-1"), False),
    ],
)
def test_fault_hits_only_what_it_is_for(fault, is_hit):
    account = Account("key")
    account.faults.append(fault)
    assert (account.take_fault("podFindAndDeployOnDemand", ORDER) is not None) == is_hit


def test_fault_of_every_call_is_none_of_a_boot():
    account = Account("key")
    account.faults.append(Fault("*", "no"))
    assert account.take_fault("boot", ORDER) is None
    account.faults.append(Fault("boot", "its host failed", gpu_type_id="NVIDIA A40"))
    assert account.take_fault("boot", ORDER) is not None


def test_fault_with_an_unknown_key_is_refused():
    with pytest.raises(TypeError):
        read_fault({"op": "*", "message": "no", "tmies": 2})


def test_bill_runs_from_creation_to_end(tmp_path):
    account = Account("key")
    pod = make_pod(tmp_path)
    account.pods[pod.pod_id] = pod
    bill = account.close_pod(pod, "terminated")
    assert account.pods == {}
    assert account.bills == [bill]
    assert bill.usd == cost_usd(Decimal("0.88"), bill.ended_at - bill.created_at)
    assert bill.usd in (Decimal("1.32"), Decimal("1.33"))


def test_keys_tell_the_account_from_a_pod_and_from_a_stranger(tmp_path):
    account = Account("key")
    account.pods["p1"] = make_pod(tmp_path)
    assert [account.owner_of(key) for key in ("key", "rpa_POD_1", "", "other")] == ["account", "p1", None, None]


def test_addresses_of_ended_pods_are_given_again(tmp_path):
    account = Account("key")
    account.pods = {str(number): make_pod(tmp_path, number=number) for number in (2, 4)}
    assert account.free_number() == 3


@pytest.mark.parametrize(
    ("image", "versions"),
    [
        ("runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04", ("2.4.0", "12.4")),
        ("pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime", ("2.7.1", "12.8")),
        ("runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404", ("2.8.0", "12.8")),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", ("2.8.0", "12.4")),
        ("ubuntu:24.04", ("2.8.0", "12.8")),
        ("", ("2.8.0", "12.8")),
    ],
)
def test_versions_follow_from_the_image_name(image, versions):
    assert parse_image_versions(image) == versions


def test_stand_ins_claim_what_was_rented(tmp_path):
    facts = stand_in_facts(make_pod(tmp_path))
    assert (facts["gpu_name"], facts["gpu_count"], facts["memory_mib"]) == ("NVIDIA A40", 2, 46068)
    assert facts["stand_in"] is True
