"""`cobayes rates`."""

import json

import cobayes as cb
from cobayes.random_matrices.sampling import compare_rates
from cobayes.theory.rates import rate_of_convergence


def test_rates_of_every_hypothesis_under_both_rules(run, world):
    content = json.loads(run("rates", world, "--json").stdout)
    model = cb.read_model(world)
    for position, row in enumerate(content["rates"]):
        assert row["hypothesis"] == model.hypotheses[position]
        for rule in ("bi", "scbi"):
            assert row[rule]["rate"] == rate_of_convergence(
                getattr(cb, rule.upper())(model), position
            )
            assert row[rule]["relevant_hypothesis"] == model.hypotheses[1 - position]
    assert content["random_matrices"] is None


def test_table_names_hypotheses_and_rules(run):
    result = run("rates", "example:M_3")
    assert result.exit_code == 0
    for text in ("BI", "SCBI", "rival", "h_1", "mean rate"):
        assert text in result.stdout


def test_samples_compare_random_matrices_of_the_shape(run, world):
    result = run("rates", world, "--samples", 1000, "--seed", 3, "--json")
    found = json.loads(result.stdout)["random_matrices"]
    assert found["probability"] == compare_rates(3, 2, 1000, rng=3).probability
    assert found["seed"] == 3
    shown = run("rates", world, "--samples", 1000)
    assert "1,000 random 3 x 2 matrices" in shown.stdout
    assert "--seed" in shown.stderr


def test_one_hypothesis_is_an_error_with_a_hint(run, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("d,A\nx,0.1\ny,0.3\n", encoding="utf-8")
    result = run("rates", path)
    assert result.exit_code == 2
    assert "one hypothesis" in result.stderr


def test_an_infinite_rate_has_no_rival_and_no_ratio(run):
    result = run("rates", "example:reference-game")
    assert result.exit_code == 0
    last = next(line for line in result.stdout.splitlines() if "glasses and hat  " in line[:20])
    assert last.split()[-5:] == ["inf", "-", "inf", "-", "-"]
    assert "nan" not in result.stdout
    found = json.loads(run("rates", "example:reference-game", "--json").stdout)["rates"][-1]
    assert found["scbi"] == {"rate": None, "relevant_hypothesis": None}
    pragmatic = run("rates", "example:reference-game", "--rule", "pragmatic")
    assert "inf: data of the taught hypothesis exclude every other hypothesis" in pragmatic.stdout


def test_rates_of_a_pragmatic_rule_and_of_a_data_prior(run, world):
    model = cb.read_model(world)
    content = json.loads(run("rates", world, "--rule", "pragmatic", "--depth", 2, "--json").stdout)
    expected = rate_of_convergence(cb.Pragmatic(model, 2))
    assert [row["pragmatic"]["rate"] for row in content["rates"]] == list(expected)
    shown = run("rates", world, "--rule", "pragmatic", "--depth", 2).stdout
    assert "Pragmatic" in shown
    assert "SCBI" not in shown
    prior = [0.5, 0.3, 0.2]
    options = ("--rule", "scbi", "--data-prior", "0.5,0.3,0.2", "--json")
    content = json.loads(run("rates", world, *options).stdout)
    expected = rate_of_convergence(cb.SCBI(model, data_prior=prior))
    assert [row["scbi"]["rate"] for row in content["rates"]] == list(expected)
