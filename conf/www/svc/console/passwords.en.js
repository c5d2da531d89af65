import policy from "./policy.en.js";

const { fields, refused, theirs } = policy;

export default {
  passwords: {
    title: "Passwords",
    note: "It applies when a password is set; the age, at each sign-in.",
    fields,
    help: { historyCount: "0 to 24; 0: any may come again.", maxAgeDays: "0: it does not expire.",
            minLength: "8 to 128." },
    inWords: "In words",
    sentences: {
      minLength: "It has at least {value} characters.",
      rejectBreached: { yes: "It is not known from breaches.", no: "It may be known from breaches." },
      rejectContextual: { yes: "It has no name or address of the user, nor the organization's.",
                          no: "It may have names and addresses in it." },
      requireLower: { yes: "It has a lower-case letter.", no: "It needs no lower-case letter." },
      requireUpper: { yes: "It has an upper-case letter.", no: "It needs no upper-case letter." },
      requireDigit: { yes: "It has a digit.", no: "It needs no digit." },
      requireSymbol: { yes: "It has a symbol.", no: "It needs no symbol." },
      historyCount: { no: "Earlier ones may come again.", one: "It is not the last one.",
                      other: "It is none of the last {value}." },
      maxAgeDays: { no: "It does not expire.", one: "It expires after a day.",
                    other: "It expires after {value} days." },
    },
    sample: {
      title: "Try it", label: "A sample, not a password of yours",
      note: "It stays in this page. Breaches, names and earlier passwords are known to the server alone.",
      good: "yes", bad: "no",
      of: { minLength: "at least {n} characters", requireLower: "a lower-case letter",
            requireUpper: "an upper-case letter", requireDigit: "a digit", requireSymbol: "a symbol" },
    },
    review: { open: "Review …", verb: "Apply", title: "Review the password policy", refused },
    theirs,
  },

  passwordGroups: {
    title: "Groups with a policy of their own",
    note: "What a group's policy says replaces the tenant's, looser or stricter; all else is as the tenant's. Of several groups the strictest counts.",
    empty: ["No group has one."], add: "Give a group a policy",
    columns: { groupName: "Group", policy: "Instead of the tenant's", updatedAt: "Changed" },
    asTenant: "As the tenant's: {value}", empties: "Empty: as the tenant's, {value}.", nothing: "At least one thing has to differ from the tenant's policy.",
    change: "Change …", edit: "Change the policy of {name}", removeOne: "Remove the policy of {name}",
    saved: "The policy of {name} is saved.",
    remove: { verb: "Remove", title: "Remove the policy of {name}?",
              notes: ["For its members the tenant's policy counts, or that of another group."],
              done: "{name} has no policy of its own any more." },
    review: { open: "Review …", verb: "Apply", title: "Review the policy of the group", refused },
  },
};
