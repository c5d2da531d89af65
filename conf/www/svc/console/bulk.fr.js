export default {
  leave: "Tout n'est pas encore fait",
  stop: "Arrêter",
  most: "C'est le maximum à la fois.",
  underWay: "{n} sur {total} sont faits …",
  left: "« {verb} » n'a pas fonctionné pour {n}.",
  again: "Réessayer pour ceux-ci",
  undone: "Annulé pour {n}.",
  skipped: { one: "{n} entrée reste telle quelle : elle a changé depuis.", other: "{n} entrées restent telles quelles : elles ont changé depuis." },
  notUndone: "Pour {n}, cela n'a pas pu être annulé.",
  columns: { name: "Nom", why: "Pourquoi", link: "Lien" },

  suspend: {
    title: { one: "Suspendre {n} utilisateur ?", other: "Suspendre {n} utilisateurs ?" },
    notes: ["Toutes leurs sessions prennent fin, et ne reviennent pas à la réactivation."],
    done: { one: "{n} utilisateur est suspendu.", other: "{n} utilisateurs sont suspendus." },
  },
  reactivate: {
    done: { one: "{n} utilisateur peut se reconnecter.", other: "{n} utilisateurs peuvent se reconnecter." },
  },
  logout: {
    title: { one: "Déconnecter {n} utilisateur ?", other: "Déconnecter {n} utilisateurs ?" },
    notes: ["Toutes leurs sessions prennent fin, sur chaque appareil. Les mots de passe et les seconds facteurs restent."],
    done: { one: "Toutes les sessions de {n} utilisateur sont terminées.", other: "Toutes les sessions de {n} utilisateurs sont terminées." },
  },
  resend: {
    title: { one: "Renvoyer {n} invitation ?", other: "Renvoyer {n} invitations ?" },
    notes: ["Les liens précédents ne fonctionnent plus.",
            "Si l'envoi d'e-mails est configuré, les nouveaux sont envoyés. Ils vous sont aussi affichés, une fois."],
    done: { one: "{n} lien est nouveau.", other: "{n} liens sont nouveaux." },
  },
  revoke: {
    title: { one: "Révoquer {n} invitation ?", other: "Révoquer {n} invitations ?" },
    notes: ["Les liens ne fonctionnent plus. Les adresses peuvent être invitées de nouveau."],
    done: { one: "{n} invitation est révoquée.", other: "{n} invitations sont révoquées." },
  },
  group: {
    verb: "Dans un groupe …", label: "Groupe",
    title: { one: "Mettre {n} utilisateur dans un groupe", other: "Mettre {n} utilisateurs dans un groupe" },
    done: { one: "{n} utilisateur est ajouté à {name}.", other: "{n} utilisateurs sont ajoutés à {name}." },
  },
};
