"""Datasets on S3: moto's server on loopback, read through the same door as a local folder."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from actswm import remote
from actswm.data import open_checked
from actswm.data.merging import merge
from actswm.data.shard_index import INDEX
from actswm.dataset_paths import absolute, dataset_path, home, label, shard_files
from actswm.errors import UserError
from actswm.saved_models import WEIGHTS_FILE

from ..conftest import write_square_file
from ..data.test_sharded import LENGTHS, SPEC, write

pytest.importorskip("s3fs")
pytest.importorskip("moto")

BLOCK = 16384
"""Small, so that a small shard is several blocks."""


@pytest.fixture(scope="module")
def server():
    from ..made.s3_server import S3

    with S3().running() as server:
        yield server


@pytest.fixture
def client(server, tmp_path, monkeypatch):
    """An empty bucket `games`, and an empty cache."""
    import boto3

    settings = {
        "AWS_ENDPOINT_URL": server.address,
        "AWS_ACCESS_KEY_ID": "made",
        "AWS_SECRET_ACCESS_KEY": "made",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        remote.CACHE: str(tmp_path / "cache"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setattr(remote, "_BLOCK", BLOCK)
    client = boto3.client("s3")
    client.create_bucket(Bucket="games")
    yield client
    for each in client.list_objects_v2(Bucket="games").get("Contents", []):
        client.delete_object(Bucket="games", Key=each["Key"])
    server.reads.clear()
    server.cuts = 0
    remote._known.clear()


@pytest.fixture
def shards(client, tmp_path):
    """The shards here, which are also under s3://games/run, beside what is no shard."""
    rng = np.random.default_rng(0)
    (tmp_path / "shards").mkdir()
    for number, lengths in enumerate(LENGTHS):
        client.upload_file(
            str(write(tmp_path / "shards" / f"{number}.h5", lengths, rng)), "games", f"run/{number}.h5"
        )
    for name in ("run/notes.txt", "run/.hidden.h5", "run/deep/9.h5", "other/0.h5"):
        client.put_object(Bucket="games", Key=name, Body=b"no dataset")
    return tmp_path / "shards"


def anew():
    """As another process would: what this one has asked for is forgotten."""
    remote._known.clear()


def same(name, merged):
    with open_checked(name) as there, open_checked(merged) as here:
        for column in ("pixels", "action", "ep_len", "x", "frame_valid", "episode_idx"):
            np.testing.assert_array_equal(there.column(column), here.column(column), err_msg=column)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("s3://games/run", (0, 1, 2)),
        ("s3://games/run/", (0, 1, 2)),
        ("s3://games/run/[02].h5", (0, 2)),
        ("s3://games/r*", (0, 1, 2)),
        ("s3://games/run/1.h5", (1,)),
        (["s3://games/run/2.h5", "s3://games/run/0.h5"], (2, 0)),
        ("s3://games/run/2.h5,HERE/1.h5", (2, 1)),
    ],
)
def test_every_name_is_the_local_files(shards, server, tmp_path, name, numbers):
    if isinstance(name, str):
        name = name.replace("HERE", str(shards))
    local = [shards / f"{number}.h5" for number in numbers]
    merged = local[0] if len(local) == 1 else tmp_path / "merged.h5"
    if len(local) > 1:
        merge(local, merged)
    same(name, merged)
    fetched = {read[0] for read in server.reads}
    assert fetched == {f"{number}.h5" for number in numbers if "HERE" not in str(name) or number != 1} - (
        {"1.h5"} if str(shards) in str(name) else set()
    )
    server.reads.clear()
    anew()
    same(name, merged)
    assert server.reads == [], "nothing is fetched twice"


def test_names(shards, tmp_path):
    path = dataset_path("s3://games/run")
    assert label(path) == "run" and absolute(path) == path
    assert home(path) == tmp_path / "cache" / "s3" / "games" / "run"
    with open_checked(path):
        pass
    index = home(path) / INDEX
    made = index.stat().st_mtime_ns
    anew()
    with open_checked("s3://games/run"):
        pass
    assert index.stat().st_mtime_ns == made, "the index is made once"


def test_a_changed_shard_alone_is_fetched_again(shards, client, server):
    shard_files(dataset_path("s3://games/run"))
    server.reads.clear()
    size = (shards / "1.h5").stat().st_size
    with h5py.File(shards / "1.h5", "r+") as file:
        file["action"][3] = 1 - file["action"][3]
    assert (shards / "1.h5").stat().st_size == size
    client.upload_file(str(shards / "1.h5"), "games", "run/1.h5")
    client.delete_object(Bucket="games", Key="run/2.h5")
    anew()
    with open_checked("s3://games/run") as there, open_checked([shards / "0.h5", shards / "1.h5"]) as here:
        np.testing.assert_array_equal(there.column("action"), here.column("action"))
    assert {name for name, _ in server.reads} == {"1.h5"}


def test_a_shard_that_was_shortened_here_is_fetched_again(shards, server):
    (file, *_) = shard_files(dataset_path("s3://games/run"))
    os.truncate(file, 100)
    server.reads.clear()
    anew()
    assert shard_files(dataset_path("s3://games/run"))[0].read_bytes() == (shards / "0.h5").read_bytes()
    assert {name for name, _ in server.reads} == {"0.h5"}


def test_a_shard_replaced_while_it_is_fetched(shards, client, server, monkeypatch):
    """Its blocks would be of two files."""
    new = (shards / "2.h5").read_bytes()
    told = []

    def hear(what, done, total):
        told.append(what)
        if told == ["0.h5"]:
            client.put_object(Bucket="games", Key="run/0.h5", Body=new)

    file = shard_files(dataset_path("s3://games/run/0.h5"), hear)[0]
    assert file.read_bytes() == new


FETCH = """
import os, signal, sys
from actswm import remote
from actswm.dataset_paths import dataset_path, shard_files
remote._BLOCK = int(sys.argv[1])
count = 0
def told(what, done, total):
    global count
    count += what == "2.h5"
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
shard_files(dataset_path("s3://games/run"), told)
"""


def test_a_killed_fetch_goes_on(shards, server):
    size = (shards / "2.h5").stat().st_size
    assert size > 4 * BLOCK
    command = [sys.executable, "-c", FETCH, str(BLOCK)]
    assert subprocess.run([*command, "3"]).returncode == -signal.SIGKILL
    assert [name for name, _ in server.reads].count("2.h5") == 2, "killed before the third block"
    assert not (home_of(shards) / "2.h5").exists()
    assert subprocess.run([*command, "-1"]).returncode == 0
    asked = [read for read in server.reads if read[0] == "2.h5"]
    assert len(asked) == len(set(asked)) == -(-size // BLOCK), "no block was got twice"
    for number in range(3):
        assert (home_of(shards) / f"{number}.h5").read_bytes() == (shards / f"{number}.h5").read_bytes()
    assert not list(home_of(shards).glob(".*.partial"))


def home_of(shards):
    return shards.parent / "cache" / "s3" / "games" / "run"


def test_two_processes_fetch_it_once(shards, server):
    command = [sys.executable, "-c", FETCH, str(BLOCK), "-1"]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(server.reads) == len(set(server.reads))


def test_a_connection_that_is_cut_is_tried_again(shards, server):
    server.cuts = 2
    file = shard_files(dataset_path("s3://games/run/2.h5"))[0]
    assert server.cuts == 0 and file.read_bytes() == (shards / "2.h5").read_bytes()


def test_a_connection_that_stays_cut_ends_in_one_line_and_goes_on_later(shards, server, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    server.cuts = 10**6
    with pytest.raises(UserError, match=r"^s3://games/run/2\.h5: cannot be read .*run again to go on$") as told:
        shard_files(dataset_path("s3://games/run/2.h5"))
    assert "\n" not in str(told.value)
    server.cuts = 0
    assert shard_files(dataset_path("s3://games/run/2.h5"))[0].stat().st_size


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("s3://nowhere/run", "s3://nowhere/run: there is no such file or folder, or no such bucket"),
        ("s3://games/absent", "s3://games/absent: there is no such file or folder, or no such bucket"),
        ("s3://games/absent/*.h5", r"there is no dataset file \(\*\.h5\) in it"),
        ("s3://games/empty", r"there is no dataset file \(\*\.h5\) in it"),
    ],
)
def test_what_is_not_there(client, name, message):
    client.put_object(Bucket="games", Key="empty/notes.txt", Body=b"")
    with pytest.raises(UserError, match=message):
        open_checked(name)


def test_no_credentials(shards, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(UserError, match="no credentials for it; set AWS_PROFILE"):
        open_checked("s3://games/run")


def test_a_name_that_leads_out_of_the_cache(client, tmp_path):
    client.put_object(Bucket="games", Key="run/../../../x.h5", Body=b"bad")
    with pytest.raises(UserError, match="has a name that no file here can have"):
        open_checked("s3://games/run/**/*.h5")
    assert not list(tmp_path.rglob("x.h5"))


WITHOUT = """
import sys
sys.modules["s3fs"] = None
from actswm.cli.main import run
sys.argv = ["actswm", "inspect", "s3://games/run"]
run()
"""


def test_without_the_extra(client):
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 2 and "s3://games/run: to read from s3://: pip install 'actswm[remote]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_steps_of_training_are_those_of_the_local_folder(client, tmp_path):
    """Loader workers are forked after the shards came here."""
    (tmp_path / "square").mkdir()
    for number in range(2):
        path = write_square_file(tmp_path / "square" / f"{number}.h5", episodes=4, seed=number)
        client.upload_file(str(path), "games", f"square/{path.name}")
    for data, out, workers in ((tmp_path / "square", "local", 0), ("s3://games/square", "remote", 2)):
        command = ["train", "tiny/actswm", "--data", data, "--out", tmp_path / out, "--quiet"]
        settings = ["training.steps=2", "training.threads=1", f"training.workers={workers}"]
        done = subprocess.run([sys.executable, "-m", "actswm", *command, *settings], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    weights = [(tmp_path / out / "model" / WEIGHTS_FILE).read_bytes() for out in ("local", "remote")]
    assert weights[0] == weights[1]


def test_nothing_is_written_there(client, square_file):
    command = ["merge", str(square_file), str(square_file), "--out", "s3://games/merged.h5"]
    done = subprocess.run([sys.executable, "-m", "actswm", *command], capture_output=True, text=True)
    assert done.returncode == 2 and "shards there are only read" in done.stderr


def test_attributes_are_those_of_the_shards(shards):
    with open_checked("s3://games/run") as file:
        assert file.attributes == SPEC.attributes and file.vocabulary == SPEC.vocabulary
