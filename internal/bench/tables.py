"""Tables of data, and what scikit-learn's methods with their defaults and XGBoost, tuned, make of them.

    tables.py versions                what computes, one line
    tables.py list                    names of the tables, one JSON object a line
    tables.py make NAME SEED DIR      write DIR/train.csv and DIR/test.csv, a quarter of the rows drawn by the seed
    tables.py peers NAME SEED DIR     besides, fit each method to DIR/train.csv and score it on DIR/test.csv

Four tables are measured data that scikit-learn brings along, five are its generators', and three are made here like well-known
tables, which it would have to download: with their words, missing values, useless columns and unequal classes.
"""
import json
import os
import platform
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: so that others' load costs time and nothing else

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
import sklearn
import xgboost
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split


def frame(x, y, names=None):
    table = pd.DataFrame(x, columns=names)
    table["target"] = y
    return table


def bundled(load):
    data = load()
    y = data.target
    if hasattr(data, "target_names"):
        y = np.array([str(name) for name in data.target_names])[y]
    return frame(data.data, y, getattr(data, "feature_names", None))


def california():
    """Median house values of 6,000 districts: place, age, rooms, income, skewed as census tables are, and cut off at the top."""
    rng = np.random.default_rng(1)
    n = 6000
    coast = rng.beta(1.5, 3, n)
    latitude = rng.choice([34.0, 37.6, 36.5], n, p=[0.5, 0.3, 0.2]) + rng.normal(0, 0.6, n)
    income = rng.lognormal(1.2, 0.45, n)
    age = rng.integers(1, 53, n)
    rooms = 3 + 0.6 * income ** 0.7 + rng.lognormal(0, 0.4, n)
    people = rng.lognormal(7, 0.7, n)
    household = 1.5 + rng.lognormal(0.4, 0.35, n)
    value = (0.45 * income + 1.6 * np.exp(-6 * coast) + 0.5 * np.cos(2 * (latitude - 34)) * (coast < 0.4) + 0.006 * age
             - 0.25 * np.log(household) + 0.05 * rooms * (income > 4))
    value = np.minimum(value * rng.lognormal(0, 0.18, n), 5.0)
    return pd.DataFrame({"MedInc": income.round(4), "HouseAge": age, "AveRooms": rooms.round(4), "Population": people.astype(int),
                         "AveOccup": household.round(4), "Coast": (100 * coast).round(2), "Latitude": latitude.round(2), "target": value.round(5)})


def adult():
    """Incomes above 50K, a quarter of 8,000 people: words with many values, capital gains that are mostly 0, missing values as ?."""
    rng = np.random.default_rng(2)
    n = 8000
    schools = ["9th", "HS-grad", "Some-college", "Assoc", "Bachelors", "Masters", "Doctorate"]
    jobs = ["Clerical", "Craft", "Exec", "Farming", "Cleaner", "Machine-op", "Service", "Prof", "Protective", "Sales", "Tech", "Transport"]
    worth = np.array([-0.3, 0.2, 1.0, -1.0, -0.9, -0.4, -0.9, 0.7, 0.5, 0.3, 0.6, 0.0])
    countries = ["United-States"] + [f"Country-{i}" for i in range(40)]
    school = rng.choice(7, n, p=[0.12, 0.33, 0.22, 0.08, 0.16, 0.07, 0.02])
    age = np.clip(rng.gamma(6, 6.5, n), 17, 90).astype(int)
    job = rng.choice(12, n)
    married = rng.random(n) < np.clip((age - 18) / 40, 0.02, 0.65)
    male = rng.random(n) < 0.67
    hours = np.clip(rng.normal(40, 11, n), 1, 99).astype(int)
    gain = np.where(rng.random(n) < 0.08, rng.lognormal(8.3, 0.9, n), 0).astype(int)
    country = np.where(rng.random(n) < 0.9, 0, rng.integers(1, 41, n))
    score = (-3.6 + 0.45 * school + worth[job] + 2.0 * married + 0.3 * male + 0.03 * (hours - 40) + 1.2 * (gain > 5000)
             - 0.0022 * (age - 50) ** 2 + 0.9 * (school > 3) * (worth[job] > 0.4))
    rich = rng.random(n) < 1 / (1 + np.exp(-1.4 * score))
    table = pd.DataFrame({"age": age, "fnlwgt": rng.lognormal(12, 0.5, n).astype(int), "education": np.array(schools)[school],
                          "marital-status": np.where(married, "Married", rng.choice(["Never-married", "Divorced", "Widowed"], n)),
                          "occupation": np.array(jobs)[job], "sex": np.where(male, "Male", "Female"), "capital-gain": gain,
                          "hours-per-week": hours, "native-country": np.array(countries)[country], "target": np.where(rich, ">50K", "<=50K")})
    for column, share in {"occupation": 0.06, "native-country": 0.02}.items():
        table.loc[rng.random(n) < share, column] = "?"
    return table


def titanic():
    """Who survived, of 891 passengers: numbers and names that tell nothing, a fifth of the ages and most cabins missing."""
    rng = np.random.default_rng(3)
    n = 891
    grade = rng.choice([1, 2, 3], n, p=[0.24, 0.21, 0.55])
    male = rng.random(n) < 0.65
    age = np.clip(rng.normal(38 - 5 * grade + 2 * male, 13), 0.4, 80).round(1)
    relatives = rng.poisson(0.5, n)
    parents = rng.poisson(0.4, n)
    fare = rng.lognormal(4.6 - 0.75 * grade, 0.5).round(4)
    port = rng.choice(["S", "C", "Q"], n, p=[0.72, 0.19, 0.09])
    score = 3.1 - 1.05 * grade - 2.7 * male + 0.9 * (grade < 3) * ~male + 1.6 * (age < 10) - 0.012 * age - 0.35 * np.maximum(relatives + parents - 2, 0) + 0.4 * (port == "C")
    table = pd.DataFrame({"PassengerId": np.arange(1, n + 1), "Pclass": grade, "Name": [f"Passenger, No. {i}" for i in rng.permutation(n)],
                          "Sex": np.where(male, "male", "female"), "Age": age, "SibSp": relatives, "Parch": parents,
                          "Ticket": [f"PC {t}" if t % 4 == 0 else str(t) for t in rng.integers(2000, 400000, n)], "Fare": fare,
                          "Cabin": [f"{c}{k}" for c, k in zip(rng.choice(list("ABCDE"), n), rng.integers(1, 120, n))], "Embarked": port,
                          "target": (rng.random(n) < 1 / (1 + np.exp(-1.2 * score))).astype(int)})
    table.loc[rng.random(n) < 0.2, "Age"] = np.nan
    table.loc[rng.random(n) < np.where(grade == 1, 0.2, 0.95), "Cabin"] = np.nan
    table.loc[rng.choice(n, 2, replace=False), "Embarked"] = np.nan
    return table


def generated(make, **how):
    return lambda: frame(*make(random_state=1, **how), None).rename(columns=str)


TABLES = {
    "iris": lambda: bundled(datasets.load_iris),
    "wine": lambda: bundled(datasets.load_wine),
    "breast-cancer": lambda: bundled(datasets.load_breast_cancer),
    "digits": lambda: bundled(datasets.load_digits),
    "diabetes": lambda: bundled(datasets.load_diabetes),
    "california-like": california,
    "adult-like": adult,
    "titanic-like": titanic,
    "moons": generated(datasets.make_moons, n_samples=1000, noise=0.25),
    "hastie": generated(datasets.make_hastie_10_2, n_samples=4000),
    "friedman1": generated(datasets.make_friedman1, n_samples=1500, noise=1.0),
    "friedman3": generated(datasets.make_friedman3, n_samples=1500, noise=0.1),
}


def classes(table):
    return not is_numeric_dtype(table["target"]) or table["target"].nunique() <= 20


def make(name, seed, directory):
    table = TABLES[name]()
    train, test = train_test_split(table, test_size=0.25, random_state=seed, stratify=table["target"] if classes(table) else None)
    train.to_csv(f"{directory}/train.csv", index=False)
    test.to_csv(f"{directory}/test.csv", index=False)


def methods(train, classify):
    """The methods behind what a user writes before them: numbers filled and scaled, words coded, columns of single words dropped."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    inputs = train.drop(columns="target")
    words = [c for c in inputs if not is_numeric_dtype(inputs[c]) and inputs[c].nunique() <= 50]
    numbers = [c for c in inputs if is_numeric_dtype(inputs[c]) and c != "PassengerId"]
    coded = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)])
    if classify:
        list_ = [("logistic regression", LogisticRegression()), ("MLP", MLPClassifier(random_state=0)),
                 ("random forest", RandomForestClassifier(random_state=0)), ("histogram boosting", HistGradientBoostingClassifier(random_state=0))]
    else:
        list_ = [("ridge", Ridge()), ("MLP", MLPRegressor(random_state=0)),
                 ("random forest", RandomForestRegressor(random_state=0)), ("histogram boosting", HistGradientBoostingRegressor(random_state=0))]
    return [(name, make_pipeline(coded, method)) for name, method in list_ + [("tuned XGBoost", Boosting(classify))]]


class Boosting(sklearn.base.BaseEstimator):
    """XGBoost with the best of its defaults and 19 random settings by five folds of the training rows, learnt from all of them."""

    def __init__(self, classify):
        self.classify = classify

    def fit(self, x, y):
        self.names, target = np.unique(y, return_inverse=True) if self.classify else (None, np.asarray(y))
        folds = (StratifiedKFold if self.classify else KFold)(5, shuffle=True, random_state=0)

        def model(setting):
            make = xgboost.XGBClassifier if self.classify else xgboost.XGBRegressor
            return make(n_jobs=1, random_state=0, **setting)

        def score(setting):
            """The mean of accuracies, or minus that of squared errors."""
            rule = "accuracy" if self.classify else "neg_mean_squared_error"
            return cross_val_score(model(setting), x, target, cv=folds, scoring=rule, error_score="raise").mean()
        rng = np.random.default_rng(0)
        between = lambda low, high: float(np.exp(rng.uniform(np.log(low), np.log(high))))
        settings = [{}] + [{
            "learning_rate": between(0.02, 0.3), "n_estimators": round(between(50, 500)), "max_depth": int(rng.integers(2, 9)),
            "min_child_weight": between(0.5, 10), "subsample": rng.uniform(0.5, 1), "colsample_bytree": rng.uniform(0.4, 1),
            "reg_lambda": between(0.1, 10)} for _ in range(19)]
        self.best_ = model(max(settings, key=score)).fit(x, target)
        return self

    def predict(self, x):
        found = self.best_.predict(x)
        return self.names[found] if self.classify else found


def peers(directory):
    train, test = pd.read_csv(f"{directory}/train.csv", na_values="?"), pd.read_csv(f"{directory}/test.csv", na_values="?")
    classify = classes(train)
    for name, method in methods(train, classify):
        began = time.perf_counter()
        method.fit(train.drop(columns="target"), train["target"])
        found = method.predict(test.drop(columns="target"))
        wrong = found != test["target"] if classify else (found - test["target"]) ** 2
        score = wrong.mean() if classify else wrong.mean() ** 0.5
        print(json.dumps({"method": name, "score": float(score), "seconds": time.perf_counter() - began}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "versions":
        print(f"scikit-learn {sklearn.__version__}, XGBoost {xgboost.__version__}, Python {platform.python_version()}")
    elif sys.argv[1] == "list":
        for name, load in TABLES.items():
            table = load()
            print(json.dumps({"name": name, "rows": len(table), "columns": table.shape[1] - 1,
                              "classes": int(table["target"].nunique()) if classes(table) else 0}))
    else:
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        if sys.argv[1] == "peers":
            peers(sys.argv[4])
