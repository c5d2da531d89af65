export default {
  leave: "Not all are done yet",
  stop: "Stop",
  most: "That is the most at once.",
  underWay: "{n} of {total} are done …",
  left: "“{verb}” did not work for {n}.",
  again: "Again for these",
  undone: "Undone for {n}.",
  skipped: { one: "{n} stays as it is: it has changed since.", other: "{n} stay as they are: they have changed since." },
  notUndone: "For {n} it could not be undone.",
  columns: { name: "Name", why: "Why", link: "Link" },

  suspend: {
    title: { one: "Suspend {n} user?", other: "Suspend {n} users?" },
    notes: ["All their sessions end, and do not come back when they are reactivated."],
    done: { one: "{n} user is suspended.", other: "{n} users are suspended." },
  },
  reactivate: {
    done: { one: "{n} user may sign in again.", other: "{n} users may sign in again." },
  },
  logout: {
    title: { one: "Sign {n} user out?", other: "Sign {n} users out?" },
    notes: ["All their sessions end, on every device. Passwords and second factors stay."],
    done: { one: "All sessions of {n} user have ended.", other: "All sessions of {n} users have ended." },
  },
  resend: {
    title: { one: "Send {n} invitation again?", other: "Send {n} invitations again?" },
    notes: ["The earlier links no longer work.",
            "Where mail is set up, the new ones are mailed. They are also shown to you, once."],
    done: { one: "{n} link is new.", other: "{n} links are new." },
  },
  revoke: {
    title: { one: "Revoke {n} invitation?", other: "Revoke {n} invitations?" },
    notes: ["The links no longer work. The addresses may be invited again."],
    done: { one: "{n} invitation is revoked.", other: "{n} invitations are revoked." },
  },
  group: {
    verb: "Into a group …", label: "Group",
    title: { one: "Put {n} user into a group", other: "Put {n} users into a group" },
    done: { one: "{n} user is added to {name}.", other: "{n} users are added to {name}." },
  },
};
