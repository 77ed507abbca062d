"""The line that a training shows."""

import pytest

from actswm.cli import progress
from actswm.cli.progress import WIDTH, TrainingProgress, progress_line
from actswm.training import load_config, train

OPTIONS = ["training.threads=1", "training.log_every=2", "training.validate_every=100"]


def test_a_line_fits_whatever_is_measured():
    many = {f"a_long_name_{i}": 10.0**i for i in range(12)}
    line = progress_line(123_456, 1_000_000, 0.01, many)
    assert len(line) < WIDTH and "a_long_name_0 1" in line


def test_it_says_where_the_run_is():
    line = progress_line(451, 7500, 2.0, {"loss": 3.38})
    assert line == "step 451 of 7,500 (6%), 2.0 steps/s, 58:44 left  loss 3.38"
    assert "0.5 steps" not in progress_line(1, 2, 0.5, {}) and "2.0 s/step" in progress_line(1, 2, 0.5, {})


def test_a_resumed_run_counts_on(square_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "A_LINE_EVERY", 0.0)
    stopping = load_config("tiny/lewm", [*OPTIONS, "training.steps=8", "training.checkpoint_steps=4"])

    class Stop(TrainingProgress):
        def on_train_batch_end(self, trainer, *rest):
            super().on_train_batch_end(trainer, *rest)
            if trainer.global_step == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(stopping, square_file, tmp_path / "run", callbacks=[Stop()])
    first = capsys.readouterr().err.splitlines()
    train(stopping, square_file, tmp_path / "run", resume=True, callbacks=[TrainingProgress()])
    second = capsys.readouterr().err.splitlines()
    assert [line.split(" (")[0] for line in first] == [f"step {n} of 8" for n in range(1, 6)]
    assert [line.split(" (")[0] for line in second][-1] == "step 8 of 8"
    assert int(second[0].split()[1]) in (5, 6) and len(second) == 9 - int(second[0].split()[1])
    assert not any(word in line for line in first + second for word in ("Epoch", "v_num", "it/s"))
