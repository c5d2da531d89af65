import policy from "./policy.de.js";
import signals from "./signals.de.js";

const { refused, theirs } = policy;

export default {
  risk: {
    title: "Risiko",
    note: "Jede Anmeldung mit richtigem Passwort bekommt einen Wert von 0 bis 100: die Summe dessen, was ungewöhnlich ist.",
    fields: { enabled: "Anmeldungen bewerten", mfaThreshold: "Zweiter Faktor ab",
              denyThreshold: "Abgewiesen ab" },
    help: { mfaThreshold: "0 fragt immer. Wer keinen zweiten Faktor hat, wird abgewiesen.",
            denyThreshold: "100 weist praktisch niemanden ab." },
    units: { mfaThreshold: "Punkten", denyThreshold: "Punkten" },
    disabled: "Anmeldungen werden nicht bewertet: Das Risiko fragt niemanden und weist niemanden ab.",
    outcomes: { allow: "0 bis {to} Punkte: Mehr wird nicht verlangt.",
                mfa: "{from} bis {to} Punkte: ein zweiter Faktor; wer keinen hat, wird abgewiesen.",
                deny: "Ab {from} Punkten: abgewiesen." },
    signals: {
      title: "Was ungewöhnlich ist", signal: "Signal", points: "Punkte", range: "{least} bis {most}",
      note: "Bei der ersten Anmeldung eines Benutzers zählen nur Fehlversuche.",
      of: signals,
    },
    review: { open: "Prüfen …", verb: "Anwenden", title: "Risikorichtlinie prüfen", refused },
    theirs,
  },
};
