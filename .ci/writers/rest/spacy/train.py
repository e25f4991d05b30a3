# spaCy's training of a text classifier, with its console logger.
import json
import random
import sys

import spacy
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, registry

random.seed(0)


@registry.readers("lines.v1")
def lines(count: int):
    def read(nlp):
        for i in range(count):
            good = i % 2 == 0
            words = random.choices(["nice", "good", "warm"] if good else ["bad", "cold", "late"], k=2) + random.choices(["it", "was", "a"], k=3)
            yield Example.from_dict(nlp.make_doc(" ".join(words)), {"cats": {"GOOD": float(good), "BAD": float(not good)}})

    return read


truth = []


@registry.loggers("kept.v1")
def kept():
    console = registry.loggers.get("spacy.ConsoleLogger.v3")(progress_bar=None)

    def setup(nlp, stdout=sys.stdout, stderr=sys.stderr):
        log, finish = console(nlp, stdout, stderr)

        def row(info):
            log(info)
            if info is not None:
                truth.append(("E", info["step"], info["epoch"]))
                truth.append(("loss textcat", info["step"], float(info["losses"]["textcat"])))
                truth.append(("score", info["step"], float(info["score"])))
                truth.append(("cats_score", info["step"], 100 * float(info["other_scores"]["cats_score"])))

        return row, finish

    return setup


base = spacy.blank("en")
base.add_pipe("textcat")
config = load_config(spacy.__path__[0] + "/default_config.cfg", interpolate=False)
config = config.merge(base.config)
config["corpora"] = {"train": {"@readers": "lines.v1", "count": 120}, "dev": {"@readers": "lines.v1", "count": 40}}
config["training"].update(max_steps=120, eval_frequency=10, patience=0, seed=0, logger={"@loggers": "kept.v1"})
train(init_nlp(config), stdout=sys.stdout, stderr=sys.stderr)
json.dump({"console": truth}, open("truth.json", "w"))
