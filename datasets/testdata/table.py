# Makes table.csv, table_test.csv and table.json: a table with a column of every kind, and what pandas and numpy make of it, for
# TestFiguresOfPandas. Run here: python3 table.py
import json
import numpy as np
import pandas as pd

rng = np.random.default_rng(20)
n, m = 1100, 60
d = pd.DataFrame({
    "age": np.round(rng.gamma(9, 4, n + m), 1),
    "income": np.round(rng.lognormal(8, 1, n + m), 2),
    "city": [f"city {int(57 * u)}" if u < 0.98 else f"city {int(4000 * u)}" for u in rng.random(n + m)],
    "place": rng.choice(["north", "south", "hut 1", "hut 2"], n + m, p=[0.5, 0.49, 0.005, 0.005]),
    "seen": (pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 3 * 365 * 24, n + m), unit="h")).strftime("%d/%m/%Y %H:%M"),
    "paid": rng.choice(["yes", "no"], n + m),
})
d["price"] = np.round(0.2 * d.age + d.city.str[5:].astype(int) % 60 * 0.3 + rng.normal(size=n + m), 3)
for name, share in {"age": 0.2, "income": 0.1, "place": 0.05, "seen": 0.1, "paid": 0.1}.items():
    d.loc[rng.random(n + m) < share, name] = np.nan
d[:n].to_csv("table.csv", index=False)
d[n:].to_csv("table_test.csv", index=False, na_rep="NA")

train = d[:n]
stamp = pd.to_datetime(d.seen, format="%d/%m/%Y %H:%M")
numbers = pd.DataFrame({
    "age": d.age, "income": d.income,
    "seen year": stamp.dt.year, "seen month": stamp.dt.month, "seen day of week": stamp.dt.weekday + 1, "seen hour": stamp.dt.hour + stamp.dt.minute / 60,
    "paid": d.paid.map({"yes": 1.0, "no": 0.0}),
})
figures = {name: {"mean": c[:n].mean(), "sd": c[:n].std(ddof=0), "median": c[:n].median()} for name, c in numbers.items()}
# Words of one row are one.
counts = train.city.value_counts()
word = d.city.where(d.city.map(counts).fillna(0) >= 2, "other")
sums, rows = train.price.groupby(word[:n]).sum(), train.price.groupby(word[:n]).count()
smoothed = (sums + 10 * train.price.mean()) / (rows + 10)
places = train.place.value_counts()
json.dump({
    "numbers": figures,
    "city": [float(smoothed.get(w, train.price.mean())) for w in word[n:]],
    "place": [w if isinstance(w, str) and places.get(w, 0) >= 10 else ("other" if isinstance(w, str) else "missing") for w in d.place[n:]],
    "test": [[None if np.isnan(v) else float(v) for v in row] for row in numbers[n:].to_numpy()],
}, open("table.json", "w"), indent=1)
