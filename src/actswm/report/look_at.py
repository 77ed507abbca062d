"""What to look at in each section of the report, in one sentence."""

LOOK_AT = {
    "summary": "Look at the verdicts first, then whether a model that listens also plans and recovers better.",
    "drift": "Look for lines that part: only a model that listens expects another future under other actions.",
    "fidelity": "Look at F against one half: above it, a prediction is nearer to what its own actions truly lead to.",
    "sheets": "Compare each true row with the rows beneath it: other actions should show another place.",
    "planning": "Look at how many episodes succeed, then play the films of one episode side by side.",
    "recovery": "Look at balanced accuracy: one half is guessing, and only a model that listens can be far above it.",
    "data": "Look whether the frames are what you meant to record.",
    "training": "Look whether validation still falls at the end: a model that still learns deserves more steps.",
}
