"""Published tables are what the result files say, and say it in two digits."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.errors import UserError
from actswm.report.tables.markdown import share
from actswm.report.tables.tables import TABLES, table_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results.md"
MAZE = ROOT / "results" / "freedoom-maze"


def actswm(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["results", *map(str, arguments)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_the_tables_of_the_page_are_what_the_command_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = Path(shutil.copy(PAGE, tmp_path))
    assert "is what the results say" in actswm("fill", page)
    assert page.read_text() == PAGE.read_text()


def test_no_table_of_the_page_is_typed_by_hand():
    text = PAGE.read_text()
    made = re.findall(r"^<!-- actswm results table ([\w-]+) .+ -->\n\n\|", text, re.M)
    assert len(made) == len(re.findall(r"^\|(?:---\|)+$", text, re.M))
    assert set(made) == set(TABLES)


def test_a_new_table_leaves_what_follows_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    mark = "<!-- actswm results table seeds results/freedoom-maze-seeds/*.json -->"
    page = tmp_path / "page.md"
    page.write_text(f"{mark}\n\nText right below.\n\n{mark}\n\n")
    assert "written anew" in actswm("fill", page)
    rows = page.read_text().splitlines()
    text = rows.index("Text right below.")
    assert rows[text - 1] == "" and rows[text - 2].startswith("|") and rows[-1].startswith("|")
    assert "is what the results say" in actswm("fill", page)


def test_a_changed_figure_changes_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "results", "results")
    page = Path(shutil.copy(PAGE, tmp_path))
    file = Path("results/freedoom-maze/drift.json")
    tree = json.loads(file.read_text())
    tree["models"][0]["steps"][7]["recorded"]["mean"] = 0.111
    file.write_text(json.dumps(tree))
    assert "written anew" in actswm("fill", page)
    old, new = PAGE.read_text().splitlines(), page.read_text().splitlines()
    (changed,) = (after for before, after in zip(old, new, strict=True) if before != after)
    assert changed.startswith("| LeWM-rollout | .95 .90 .11 .72")


def test_without_labels_every_model_is_a_row_under_its_name(tmp_path):
    shutil.copy(MAZE / "rows-drift.json", tmp_path)
    rows = actswm("table", "drift", tmp_path / "rows-drift.json").splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows][:2] == ["| lewm", "| lewm-long"]


def test_a_row_over_seeds_is_their_mean_and_range(tmp_path):
    models = json.loads((MAZE / "fidelity.json").read_text())
    rollout, _, plus, contrast = (models["models"][number] for number in range(4))
    models["models"] = [contrast | {"name": "ours-1"}, plus | {"name": "ours-22"}, rollout]
    (tmp_path / "fidelity.json").write_text(json.dumps(models))
    both = [[step for step in model["steps"] if step["kind"] == "all"] for model in (contrast, plus)]
    figures = {step: [of[step - 1]["fidelity"]["mean"] for of in both] for step in (1, 2, 4, 8)}
    means = " ".join(share(sum(values) / 2) for values in figures.values())
    row = actswm("table", "seeds", tmp_path / "fidelity.json").splitlines()[2]
    assert row.startswith(f"| ours | 2 | {means} ({share(min(figures[8]))} to {share(max(figures[8]))}) |")


def test_chosen_rows_come_in_the_order_given():
    rows = actswm("table", "drift", MAZE / "drift.json", "--rows", "actswm,lewm-rollout").splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| ActSWM", "| LeWM-rollout"]


@pytest.mark.parametrize(
    ("kind", "file", "rows", "message"),
    [
        ("plan", MAZE / "drift.json", (), "drift.json: this table is made of plan results"),
        ("drift", MAZE / "annotate-bench.json", (), "annotate-bench.json: holds no result of actswm"),
        ("drift", MAZE / "drift.json", ("nobody",), "no row of the table is among lewm-rollout, actswm"),
        ("paper", MAZE / "drift.json", ("contrast",), "the paper has no figures for contrast"),
        ("paper", MAZE / "drift.json", (), "no row of the table is among"),
    ],
)
def test_what_cannot_be_a_table_is_told(kind, file, rows, message):
    with pytest.raises(UserError, match=message):
        table_of(kind, [file], rows)


def test_a_page_without_tables_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("| a |\n|---|\n")
    with pytest.raises(UserError, match="no table of this page says how it is made"):
        actswm("fill", tmp_path / "page.md")


@pytest.mark.parametrize(
    ("page", "message"),
    [(b"\xa8", "is no page of text"), (b"<!-- actswm results table drift ' -->\n\n", "No closing quotation")],
)
def test_a_damaged_page_is_refused(tmp_path, page, message):
    (tmp_path / "page.md").write_bytes(page)
    told = CliRunner().invoke(app, ["results", "fill", str(tmp_path / "page.md")])
    assert isinstance(told.exception, UserError) and message in str(told.exception)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.964, ".96"), (-0.004, ".00"), (-0.126, "-.13"),
        (0.999, "1.00"), (-1.5, "-1.50"), (10.0, "10.00"), (float("nan"), ""),
    ],
)  # fmt: skip
def test_shares(value, text):
    assert share(value) == text


@pytest.mark.parametrize("labels", ["[]", '{"common": 1}', '{"common": {"x": []}}', '{"paper": {"x": [1e400]}}'])
def test_damaged_labels_are_refused(tmp_path, labels):
    (tmp_path / "made").mkdir()
    shutil.copy(MAZE / "drift.json", tmp_path / "made")
    (tmp_path / "rows.json").write_text(labels)
    with pytest.raises(UserError, match=r"rows\.json: .* is no object of names and"):
        actswm("table", "drift", tmp_path / "made" / "drift.json")
