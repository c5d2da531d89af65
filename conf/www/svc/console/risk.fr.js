import policy from "./policy.fr.js";
import signals from "./signals.fr.js";

const { refused, theirs } = policy;

export default {
  risk: {
    title: "Risque",
    note: "Chaque connexion avec le bon mot de passe reçoit un score de 0 à 100 : la somme de ce qui est inhabituel.",
    fields: { enabled: "Évaluer les connexions", mfaThreshold: "Second facteur à partir de",
              denyThreshold: "Refus à partir de" },
    help: { mfaThreshold: "0 le demande toujours. Qui n'a pas de second facteur est refusé.",
            denyThreshold: "100 ne refuse pratiquement personne." },
    units: { mfaThreshold: "points", denyThreshold: "points" },
    disabled: "Les connexions ne sont pas évaluées : le risque ne fait rien demander ni refuser.",
    outcomes: { allow: "De 0 à {to} points : rien de plus n'est demandé.",
                mfa: "De {from} à {to} points : un second facteur ; qui n'en a pas est refusé.",
                deny: "À partir de {from} points : refus." },
    signals: {
      title: "Ce qui est inhabituel", signal: "Signal", points: "Points", range: "{least} à {most}",
      note: "À la première connexion d'un utilisateur, seuls les échecs comptent.",
      of: signals,
    },
    review: { open: "Vérifier …", verb: "Appliquer", title: "Vérifier la stratégie de risque", refused },
    theirs,
  },
};
