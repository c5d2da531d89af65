const columns = {
  createdAt: "Quand", action: "Quoi", actor: "Qui", target: "Sur", ip: "Adresse",
  outcome: "Résultat", country: "Pays", userAgent: "Navigateur", requestId: "Requête", id: "Identifiant",
};

export default {
  audit: {
    title: "Audit", note: "Ce qui a été fait ici et par qui, le plus récent d'abord.",
    columns, filters: { outcome: "Résultat", action: "Quoi", actorId: "Identifiant de l'auteur", from: "Du", to: "Au" },
    options: { outcome: { success: "réussi", failure: "échoué" } },
    empty: ["Le journal est vide."],
    details: "Détails", export: "Exporter", sameActor: "Tout du même auteur",
    sameTarget: "Tout sur le même objet",
  },

  incidents: {
    title: "Incidents", one: "Incident",
    note: "Ce qui ressemble à une attaque, ou demande votre attention. Qui s'en est occupé l'acquitte.",
    columns: { createdAt: "Quand", severity: "Gravité", title: "Quoi", status: "État",
               acknowledgedBy: "Par" },
    filters: { all: "Afficher" },
    options: { all: { false: "les ouverts", true: "aussi les acquittés" }, severity: { high: "élevée", medium: "moyenne" },
               status: { open: "ouvert", acknowledged: "acquitté" } },
    empty: ["Rien ne demande votre attention."],
    block: "Bloquer cette adresse",
    todo: {
      credential_stuffing: "Une adresse essaie de nombreux comptes : bloquez-la, et faites demander un second facteur par la stratégie de risque.",
      account_lockouts: "De nombreux comptes sont verrouillés : cherchez dans l'audit ce qu'ils ont en commun.",
      mfa_guessing: "Quelqu'un qui a un mot de passe devine un code : faites changer le mot de passe.",
      risk_denied: "Une connexion était trop inhabituelle : demandez à la personne si c'était elle.",
      impossible_travel: "Deux connexions étaient trop éloignées : demandez à la personne, et déconnectez-la en cas de doute.",
      passkey_cloned: "Le compteur d'une clé d'accès a reculé : faites-la supprimer et en ajouter une autre.",
      ldap_ambiguous: "L'annuaire a deux personnes pour un nom : corrigez son filtre ou les entrées.",
      ldap_sync_held: "Une importation retirerait de nombreuses personnes : vérifiez l'annuaire avant de la permettre.",
      scim_target_held: "Une cible perdrait de nombreux utilisateurs : vérifiez ce qui a été retiré avant de confirmer.",
      token_maker_lost: "Qui a créé un jeton est parti : créez-en un autre, et révoquez celui-ci.",
    },
    acts: { ack: { verb: "Acquitter", title: "Acquitter cet incident ?", done: "Il est acquitté.",
                   notes: ["Il quitte la liste de ce qui est ouvert. Il reste dans le journal d'audit."] } },
  },
};
