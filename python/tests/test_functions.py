"""compare, Study, minimize, plots, progress."""

import os
import subprocess
import sys

import numpy as np
import pytest

import yosida


def test_compare_runs_each_method_on_the_same_rows(table):
    X, y = table
    found = yosida.compare(X, y, ["my-hpo", "random:trials=5"], seeds=(0, 1))
    assert len(found) == 4
    assert [row["method"] for row in found.means()][0] == "my-hpo"
    assert found.runs[1][2].iterations == 5
    alone = yosida.tune(X, y, method="random", settings={"trials": 5}, seed=1)
    assert np.array_equal(found.runs[3][2].lambda_, alone.lambda_)
    assert "my-hpo" in repr(found) and "my-hpo" in found._repr_html_()
    pytest.importorskip("pandas")
    assert len(found.to_pandas()) == 4


def test_minimize_finds_the_bottom_of_a_bowl():
    for sampler in yosida.samplers():
        found = yosida.minimize(lambda x: float(np.sum((x - 0.3) ** 2)), [(-1.0, 1.0), (-1.0, 1.0)], sampler, trials=12)
        assert found.value < 0.5, sampler
        assert found.value == min(value for _, value in found.trials)
    named = yosida.minimize(lambda at: (np.log10(at["rate"]) + 3) ** 2, {"rate": (1e-6, 1.0, "log")}, trials=12, seed=3)
    assert 1e-4 < named.x["rate"] < 1e-2
    again = yosida.minimize(lambda at: (np.log10(at["rate"]) + 3) ** 2, {"rate": (1e-6, 1.0, "log")}, trials=12, seed=3)
    assert again.trials == named.trials
    failed = yosida.minimize(lambda x: np.nan, [(0.0, 1.0)], trials=3)
    assert failed.x is None and len(failed.trials) == 3
    with pytest.raises(ZeroDivisionError):
        yosida.minimize(lambda x: 1 / 0, [(0.0, 1.0)])


def test_samplers_refuse_what_was_not_asked():
    sampler = yosida.Sampler([(0.0, 1.0)], "tpe")
    proposal = sampler.ask()
    sampler.tell(proposal, 1.0)
    with pytest.raises(ValueError, match="open"):
        sampler.tell(proposal, 1.0)
    for bad in ([(1.0, 0.0)], [], [(0.0, 1.0, "cubic")], [(0.0,)], {"x": (0.0, 1.0, "log")}):
        with pytest.raises(ValueError):
            yosida.Sampler(bad)
    with pytest.raises(ValueError):
        yosida.Sampler([(0.0, 1.0)], "nobody")


@pytest.mark.skipif("YOSIDA" not in os.environ, reason="needs the program, which YOSIDA names")
def test_studies_are_read(tmp_path):
    study = tmp_path / "one.study"
    subprocess.run([os.environ["YOSIDA"], "compare", "--data", "spectra", "--methods", "my-hpo,random", "--seeds", "2",
                    "--study", study, "--quiet"], check=True, capture_output=True)
    found = yosida.Study(study, traces=True)
    assert len(found) == 4 and {run.method.split(":")[0] for run in found} == {"my-hpo", "random"}
    assert all(len(run.trace) > 0 for run in found)
    assert found[0].spec and found[0].outcome
    frame = found.to_pandas()
    assert len(frame) == 4 and set(frame["method"]) == {run.method for run in found}
    with pytest.raises(ValueError):
        yosida.Study(tmp_path / "none.study")


def test_pictures_are_drawn(table):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = table
    one, other = yosida.tune(X, y), yosida.RidgeTuned(penalty_per="feature").fit(X, y)
    ax = yosida.plot_convergence(one, other)
    assert len(ax.lines) == 2
    ax = yosida.plot_lambda_curve(X, y, lambdas=(-8.0, 2.0, 9))
    losses = ax.lines[0].get_ydata()
    assert len(losses) == 9 and min(losses) >= ax.lines[1].get_ydata()[0] - 1e-9
    ax = yosida.plot_coefficient_path(X, y, lambdas=(-8.0, 6.0, 5))
    ends = np.array([line.get_ydata() for line in ax.lines[:6]])
    assert np.abs(ends[:, -1]).sum() < 0.1 * np.abs(ends[:, 0]).sum()
    with pytest.raises(TypeError):
        yosida.plot_convergence(3)


def test_progress_is_shown_with_and_without_tqdm(table, capsys, monkeypatch):
    X, y = table
    yosida.tune(X, y, verbose=True)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    yosida.tune(X, y, verbose=True)
    assert "validation loss" in capsys.readouterr().err
