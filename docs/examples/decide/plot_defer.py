"""
How do I let the model decide the clear cases, with a promise about errors?
===========================================================================

The model decides the rows it is sure about, and a person decides the others. The threshold comes
with a promise: at most 20 % of the decided rows are wrong, with 90 % confidence.
"""

# %%
# German credit: 400 loans train the model, 400 others set the threshold, 200 are new.
import pandas as pd
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

X, y = shafer.datasets.load_german_credit(return_X_y=True)
encoder = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")),
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
)
model = make_pipeline(encoder, LogisticRegression(C=0.1, max_iter=1000)).fit(X[:400], y[:400])
explainer = shafer.Explainer(model, X[:400], moderate="laplace")
explainer = explainer.control_error(X[400:800], y[400:800], error=0.2, confidence=0.9)

# %%
# The error among the decided rows against the share that is decided. The dot is the threshold.
plots.DeferralDisplay.from_explainer(explainer, X[800:], y[800:]).plot()
pyplot.show()

# %%
# Each deferred row has a reason. "close call" is an ordinary case between two classes.
new = explainer.predict_or_defer(X[800:])
print(new.promise)
print(f"decided: {new.share_decided:.0%}")
pd.Series(new.reason_counts)

# %%
# The answers of the first rows; in a deferred row the label is a suggestion.
new.to_frame("pandas").head(6).round(2)

# %%
# **How to misread it.** The promise is about all decided rows together, not about one row. Rows
# decided with a probability of 0.75 are wrong more often than rows with 0.99.
