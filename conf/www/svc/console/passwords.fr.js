import policy from "./policy.fr.js";

const { fields, refused, theirs } = policy;

export default {
  passwords: {
    title: "Mots de passe",
    note: "Cela vaut quand un mot de passe est défini ; l'âge, à chaque connexion.",
    fields,
    help: { historyCount: "De 0 à 24 ; 0 : tous peuvent revenir.", maxAgeDays: "0 : il n'expire pas.",
            minLength: "De 8 à 128." },
    inWords: "En clair",
    sentences: {
      minLength: "Il a au moins {value} caractères.",
      rejectBreached: { yes: "Il n'est connu d'aucune fuite.", no: "Il peut être connu d'une fuite." },
      rejectContextual: { yes: "Il ne contient ni nom ni adresse de l'utilisateur, ni ceux de l'organisation.",
                          no: "Il peut contenir des noms et des adresses." },
      requireLower: { yes: "Il a une minuscule.", no: "Il n'a pas besoin de minuscule." },
      requireUpper: { yes: "Il a une majuscule.", no: "Il n'a pas besoin de majuscule." },
      requireDigit: { yes: "Il a un chiffre.", no: "Il n'a pas besoin de chiffre." },
      requireSymbol: { yes: "Il a un symbole.", no: "Il n'a pas besoin de symbole." },
      historyCount: { no: "Les anciens peuvent revenir.", one: "Ce n'est pas le dernier.",
                      other: "Ce n'est aucun des {value} derniers." },
      maxAgeDays: { no: "Il n'expire pas.", one: "Il expire après un jour.",
                    other: "Il expire après {value} jours." },
    },
    sample: {
      title: "Essayez", label: "Un exemple, pas un mot de passe à vous",
      note: "Il reste dans cette page. Le serveur seul connaît les fuites, les noms et les anciens mots de passe.",
      good: "oui", bad: "non",
      of: { minLength: "au moins {n} caractères", requireLower: "une minuscule",
            requireUpper: "une majuscule", requireDigit: "un chiffre", requireSymbol: "un symbole" },
    },
    review: { open: "Vérifier …", verb: "Appliquer", title: "Vérifier la stratégie de mot de passe",
              refused },
    theirs,
  },

  passwordGroups: {
    title: "Groupes avec leur propre stratégie",
    note: "Ce que dit la stratégie d'un groupe remplace celle de l'organisation, en plus souple ou plus strict ; le reste est comme dans l'organisation. De plusieurs groupes, le plus strict compte.",
    empty: ["Aucun groupe n'en a."], add: "Donner une stratégie à un groupe",
    columns: { groupName: "Groupe", policy: "Au lieu de celle de l'organisation", updatedAt: "Modifiée" },
    asTenant: "Comme l'organisation : {value}", empties: "Vide : comme l'organisation, {value}.",
    nothing: "Au moins un point doit différer de la stratégie de l'organisation.",
    change: "Modifier …", edit: "Modifier la stratégie de {name}",
    removeOne: "Supprimer la stratégie de {name}",
    saved: "La stratégie de {name} est enregistrée.",
    remove: { verb: "Supprimer", title: "Supprimer la stratégie de {name} ?",
              notes: ["Pour ses membres vaut la stratégie de l'organisation, ou celle d'un autre groupe."],
              done: "{name} n'a plus sa propre stratégie." },
    review: { open: "Vérifier …", verb: "Appliquer", title: "Vérifier la stratégie du groupe", refused },
  },
};
