import policy from "./policy.en.js";
import signals from "./signals.en.js";

const { refused, theirs } = policy;

export default {
  risk: {
    title: "Risk",
    note: "Each sign-in with the right password has a score from 0 to 100: the sum of what is unusual.",
    fields: { enabled: "Score sign-ins", mfaThreshold: "A second factor from",
              denyThreshold: "Denied from" },
    help: { mfaThreshold: "0 asks always. Whoever has no second factor is denied.",
            denyThreshold: "100 denies practically nobody." },
    units: { mfaThreshold: "points", denyThreshold: "points" },
    disabled: "Sign-ins are not scored: nobody is asked or denied by risk.",
    outcomes: { allow: "0 to {to} points: nothing more is asked.",
                mfa: "{from} to {to} points: a second factor; whoever has none is denied.",
                deny: "From {from} points: denied." },
    signals: {
      title: "What is unusual", signal: "Signal", points: "Points", range: "{least} to {most}",
      note: "For a user's first sign-in only failures count.",
      of: signals,
    },
    review: { open: "Review …", verb: "Apply", title: "Review the risk policy", refused },
    theirs,
  },
};
