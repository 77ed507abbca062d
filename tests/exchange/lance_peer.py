"""stable-worldmodel's own Lance reader and writer, in a process of their own: they change how processes are started.

python -m tests.exchange.lance_peer read TABLE OUT.npz
python -m tests.exchange.lance_peer write TABLE IN.npz
"""

import sys

import numpy as np

from actswm.integrations.stable_worldmodel import peer


def read(table: str, out: str) -> None:
    data = peer("data.formats.lance").LanceDataset(table)
    episodes = [data._load_slice(index, 0, int(length)) for index, length in enumerate(data.lengths)]
    names = [name for name in data.column_names if not isinstance(episodes[0][name], str)]
    told = {name: np.concatenate([np.asarray(each[name]) for each in episodes]) for name in names}
    np.savez(out, lengths=data.lengths, offsets=data.offsets, **told)


def write(table: str, source: str) -> None:
    """Two episodes of what the arrays hold: rows 0 to 4, rows 5 to 7."""
    with np.load(source) as arrays, peer("data.formats.lance").LanceWriter(table) as writer:
        episodes = (slice(0, 5), slice(5, 8))
        writer.write_episodes({name: list(arrays[name][rows]) for name in arrays.files} for rows in episodes)


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](*sys.argv[2:])
