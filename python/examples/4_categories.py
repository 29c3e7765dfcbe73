"""Cross-validated softmax in a Pipeline, with categories."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import yosida

rng = np.random.default_rng(0)
n = 300
table = pd.DataFrame({"size": rng.normal(size=n), "age": rng.exponential(size=n), "town": rng.choice(list("abcd"), n)})
towns = table["town"].map({"a": 0.0, "b": 1.0, "c": 2.0, "d": 0.0})
kind = np.array(["small", "middle", "large"])[np.digitize(table["size"] + towns + 0.5 * rng.normal(size=n), [0.3, 1.3])]

columns = ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough")
model = make_pipeline(columns, yosida.LogisticTuned(cv=5, penalty_per="class"))
print("accuracy", cross_val_score(model, table, kind, cv=3).round(2))

model.fit(table, kind)
for name, penalty in zip(model[-1].classes_, model[-1].penalty_):
    print(f"{name:8} penalty {penalty:.3g}")
assert set(model.predict(table)) <= {"small", "middle", "large"}
