export default {
  theirs: "What others have changed is here now.",
  refused: "It cannot be applied: the server would refuse it, for the reason above.",
  fields: {
    minLength: "Characters at least", rejectBreached: "Refuse passwords known from breaches",
    rejectContextual: "Refuse names and addresses in passwords",
    requireLower: "Ask for a lower-case letter", requireUpper: "Ask for an upper-case letter",
    requireDigit: "Ask for a digit", requireSymbol: "Ask for a symbol",
    historyCount: "Earlier passwords that may not come again", maxAgeDays: "Days until it expires",
  },
};
