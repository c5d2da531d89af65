import bulk from "./bulk.fr.js";
import permissions from "./permissions.fr.js";

const person = {
  displayName: "Nom", email: "Adresse e-mail", role: "Rôle", status: "Statut",
};

const status = { active: "actif", suspended: "suspendu", deactivated: "désactivé" };

export default {
  bulk,

  users: {
    title: "Utilisateurs", one: "Utilisateur", invite: "Inviter des personnes",
    empty: ["Il n'y a encore personne.",
            "Invitez quelqu'un, ou laissez votre fournisseur d'identité provisionner par SCIM."],
    kept: "Un fournisseur d'identité ou un annuaire tient ces données : ce qui est modifié ici serait écrasé.",
    columns: {
      ...person, mfaEnrolled: "Second facteur", lastLoginAt: "Dernière connexion", locked: "Verrouillé",
      source: "Origine", emailVerified: "Adresse vérifiée", externalId: "Identifiant externe",
      createdAt: "Créé", id: "Id",
    },
    filters: { status: "Statut", locked: "Verrouillé", factor: "Second facteur" },
    options: {
      status,
      locked: { true: "oui", false: "non" }, factor: { with: "avec", without: "sans" },
      source: { local: "Inscription", invitation: "Invitation", scim: "SCIM", ldap: "Annuaire",
                saml: "SAML", social: "Fournisseur d'identité" },
    },
    fields: {
      email: "Adresse e-mail", displayName: "Nom", firstName: "Prénom",
      lastName: "Nom de famille", title: "Fonction", department: "Service", locale: "Langue",
    },
    help: { email: "Une nouvelle adresse met fin à toutes les sessions ; un e-mail prévient l'ancienne.",
            locale: "Par exemple de, ou fr-CH. C'est la langue des e-mails." },
    tabs: { one: "Profil", access: "Accès", activity: "Activité" },
    acts: {
      resetLink: { off: "Aucun e-mail ne part : l'envoi n'est pas configuré sur ce serveur.",
                   verb: "Envoyer un lien", title: "Envoyer à {name} un lien pour définir un nouveau mot de passe ?",
                   done: "Un lien est en route vers {name}.",
                   notes: ["Il vaut 30 minutes, et une seule fois. Personne d'autre ne le voit.",
                           "L'ancien mot de passe reste valable jusqu'à ce qu'un autre soit défini."] },
      suspend: { verb: "Suspendre", done: "{name} est suspendu ; toutes les sessions sont terminées." },
      reactivate: { verb: "Réactiver",
                    done: "{name} peut de nouveau se connecter. Les anciennes sessions ne reviennent pas." },
      unlock: { verb: "Déverrouiller", title: "Déverrouiller {name} ?", done: "{name} peut réessayer.",
                notes: ["Trop de mots de passe ou de codes faux ont verrouillé ce compte. Le décompte des essais recommence."] },
      logout: { verb: "Déconnecter", title: "Déconnecter {name} ?",
                done: "Toutes les sessions de {name} sont terminées.",
                notes: ["Toutes les sessions se terminent, sur chaque appareil. Les mots de passe et les seconds facteurs restent."] },
      resetMfa: { verb: "Retirer les facteurs", title: "Supprimer tous les seconds facteurs de {name} ?",
                  done: "{name} n'a plus de second facteur.",
                  notes: ["Les clés d'accès, les applications et les codes de secours sont supprimés, et toutes les sessions se terminent.",
                          "Ce que demande un autre fournisseur d'identité ne change pas."] },
      takeRole: { verb: "Retirer le rôle", title: "Retirer le rôle à {name} ?",
                  done: "{name} n'a plus de rôle.",
                  notes: ["Le rôle de {name} est {role} ; ce sera celui de membre. Toutes les sessions prennent fin, sur chaque appareil.",
                          "Le compte reste, avec ses groupes et ses applications. Ce qu'il a créé reste aussi ; ses jetons ne permettent plus rien de plus qu'à un membre."] },
      remove: { verb: "Effacer", title: "Effacer {name} ?", done: "{name} est effacé.",
                notes: ["Le compte et toutes les données personnelles sont supprimés. C'est irréversible.",
                        "Les entrées du journal d'audit restent, avec l'identifiant."] },
      role: { verb: "Attribuer ce rôle", done: "{name} a un autre rôle, dès la prochaine requête.",
              note: "Un rôle qui permet plus que le vôtre ne peut pas être attribué.",
              off: "{name} (il faut {missing})" },
    },
  },

  userGroups: {
    title: "Groupes", empty: "Dans aucun groupe.",
    columns: { name: "Groupe", connection: "Par", addedAt: "Depuis" },
  },

  userSessions: {
    title: "Sessions", empty: "Connecté nulle part.",
    columns: { userAgent: "Navigateur", methods: "Preuves", ip: "Adresse", country: "Pays",
               createdAt: "Connexion", lastSeenAt: "Dernière activité" },
    acts: { end: { verb: "Terminer", title: "Terminer cette session ?", done: "La session est terminée.",
                   notes: ["Elle prend fin à la prochaine requête. Les autres sessions restent."] } },
  },

  userFactors: {
    title: "Seconds facteurs", empty: "Aucun.",
    codes: { one: "Il reste {n} code de secours.", other: "Il reste {n} codes de secours." },
    columns: { name: "Nom", type: "Quoi", confirmed: "Confirmé", createdAt: "Ajouté",
               lastUsedAt: "Dernière utilisation" },
    options: { type: { totp: "Application d'authentification", passkey: "Clé d'accès", email: "Codes par e-mail" } },
  },

  userLinks: {
    title: "Identités liées", empty: "Aucune.",
    columns: { connection: "Connexion", email: "Adresse là-bas", linkedAt: "Liée",
               lastAt: "Dernière connexion" },
    acts: { unlink: { verb: "Supprimer", title: "Supprimer le lien avec {name} ?", done: "Le lien est supprimé.",
                      notes: ["Plus personne ne se connecte par lui, et les sessions qui ont commencé par lui prennent fin.",
                              "C'est peut-être le seul moyen de connexion de l'utilisateur."] } },
  },

  groups: {
    title: "Groupes", one: "Groupe", new: "Nouveau groupe", made: "{name} est créé.",
    empty: ["Il n'y a pas encore de groupe.",
            "Les groupes disent qui peut utiliser une application, et peuvent avoir leur propre stratégie de mot de passe."],
    columns: { name: "Nom", description: "Description", memberCount: "Membres",
               appCount: "Applications", createdAt: "Créé", updatedAt: "Modifié", id: "Id" },
    fields: { name: "Nom", description: "Description" },
    tabs: { one: "Groupe", members: "Membres", apps: "Applications", activity: "Activité" },
    acts: {
      remove: { verb: "Supprimer", title: "Supprimer {name} ?", done: "{name} est supprimé.",
                notes: ["Ses membres restent ; ils perdent ce que ce groupe seul leur donnait.",
                        "Sa stratégie de mot de passe est supprimée avec lui."] },
    },
  },

  groupMembers: {
    add: "Ajouter un membre", take: "Retirer", taken: "{name} n'est plus dans le groupe.",
    empty: ["Il n'y a encore personne.", "Cherchez des personnes ci-dessus, par leur nom ou leur adresse."],
    changeAll: "Coller des adresses …", paste: "Ajouter des membres à {name}",
    fields: { emails: "Adresses", only: "Toutes les autres personnes quittent le groupe" },
    help: {
      emails: "Une par ligne, ou séparées par des virgules. Les noms qui les entourent ne gênent pas : Ada <ada@example.com>.",
      only: "Pour 1 000 adresses au plus, et si chacune est celle de quelqu'un ici.",
    },
    counted: { one: "{n} adresse", other: "{n} adresses" },
    others: { one: "{n} élément n'est pas une adresse.", other: "{n} éléments ne sont pas des adresses." },
    underWay: "{n} sur {total} sont envoyées …",
    added: { one: "{n} personne est ajoutée.", other: "{n} personnes sont ajoutées." },
    there: { one: "{n} était déjà dans le groupe.", other: "{n} étaient déjà dans le groupe." },
    replaced: {
      one: "Le groupe a maintenant ce seul membre.",
      other: "Le groupe a maintenant ces {n} membres.",
    },
    unknown: {
      one: "Personne ici n'a cette adresse :",
      other: "Personne ici n'a ces {n} adresses :",
    },
    noAddress: "Il n'y a pas d'adresse dans ce texte.",
    tooMany: "Il y en a {n} ; {most} au plus peuvent remplacer tous les membres.",
    replace: {
      one: "Garder {n} personne dans le groupe, et elle seule ?",
      other: "Garder {n} personnes dans le groupe, et elles seules ?",
    },
    replaceNote: "Qui n'en fait pas partie perd aussitôt ce que donne le groupe.",
    replaceVerb: "Remplacer",
    columns: { displayName: "Nom", email: "Adresse e-mail", addedAt: "Ajouté" },
  },

  groupApps: {
    add: "Ajouter une application", take: "Retirer", taken: "{name} n'est plus donnée au groupe.",
    empty: ["Le groupe n'a pas encore d'application."],
    changeAll: "Choisir toutes …", choose: "Applications de {name}",
    fields: { clientIds: "Applications" },
    help: { clientIds: "Ce qui est retiré ici n'est plus ouvert à personne par ce groupe." },
    tooMany: "Il y en a plus de {most} : ajoutez-les et retirez-les une à une.",
    columns: { name: "Nom", clientId: "Id client", type: "Type", addedAt: "Ajoutée" },
    options: { type: { web: "Web", spa: "Navigateur", native: "Native", m2m: "Machine", agent: "Agent" } },
  },

  invitations: {
    title: "Invitations", one: "Invitation", new: "Inviter des personnes",
    empty: ["Personne n'a encore été invité.",
            "Une personne invitée crée son compte avec un lien valable quelques jours."],
    columns: {
      email: "Adresse e-mail", role: "Rôle", groupIds: "Groupes", status: "Statut",
      invitedBy: "Par", createdAt: "Invité", expiresAt: "Fin du lien", outcome: "Résultat",
      why: "Pourquoi", inviteUrl: "Lien", id: "Identifiant",
    },
    filters: { status: "Statut" },
    options: {
      status: { pending: "en attente", accepted: "acceptée", expired: "expirée", revoked: "révoquée" },
      outcome: { waiting: "en attente", invited: "invité", again: "déjà invité", refused: "refusé" },
    },
    fields: { emails: "Adresses e-mail", role: "Rôle", groupIds: "Groupes",
              expiresInDays: "Durée de validité des liens" },
    units: { expiresInDays: "jours" },
    help: {
      emails: "Une par ligne, 50 au plus.",
      groupIds: "Les personnes invitées sont dans ces groupes dès le début.",
      role: "La clé d'un rôle, comme member ou admin. Vous ne pouvez pas en attribuer un qui permet plus que le vôtre.",
      roles: "Un rôle qui permet plus que le vôtre ne peut pas être attribué.",
    },
    groupsNeed: "Pour les mettre dans des groupes, il faut l'autorisation {permission}.",
    tooMany: "Il y en a {n} ; on peut en inviter 50 au plus à la fois.",
    invite: "Inviter",
    results: "Qui a été invité",
    underWay: "{n} sur {total} sont faits …",
    over: { one: "{n} sur {total} est invité.", other: "{n} sur {total} sont invités." },
    links: "Les liens ne sont affichés qu'une fois. Si l'envoi d'e-mails est configuré, ils ont aussi été envoyés ; sinon, transmettez chacun vous-même.",
    lost: "Elle a été créée, mais la réponse avec son lien s'est perdue : renvoyez-la depuis la liste.",
    leave: "Tous ne sont pas encore invités", stop: "Ne plus inviter",
    copyAll: "Copier tous les liens", retry: "Réessayer les refus", more: "Inviter encore",
    back: "Retour à la liste",
    acts: {
      resend: { verb: "Renvoyer", title: "Envoyer un autre lien à {name} ?", done: "{name} a un autre lien.",
                secret: "Le nouveau lien", notes: [
                  "Le lien précédent ne fonctionne plus ; le nouveau est valable aussi longtemps que celui-ci l'était.",
                  "Si l'envoi d'e-mails est configuré, il est envoyé. Il vous est aussi affiché, une fois.",
                ] },
      revoke: { verb: "Révoquer", title: "Révoquer l'invitation de {name} ?",
                done: "L'invitation de {name} est révoquée.",
                notes: ["Son lien ne fonctionne plus. L'adresse peut être invitée de nouveau."] },
    },
  },

  identities: {
    title: "Identités", one: "Identité",
    note: "Tous ceux qui peuvent agir ici : personnes, services et agents IA.",
    empty: "Il n'y a encore personne.",
    columns: { name: "Nom", type: "Type", owner: "Responsable", status: "Statut",
               anomalies: "Anomalies", lastActiveAt: "Dernière activité", expiresAt: "Fin" },
    filters: { type: "Type", status: "Statut" },
    options: {
      type: { human: "Personne", service: "Service", agent: "Agent IA" },
      status: { ...status, expired: "expiré", revoked: "révoqué", disabled: "arrêté",
                orphaned: "sans responsable" },
    },
  },

  roles: {
    title: "Rôles", one: "Rôle", new: "Nouveau rôle", made: "{name} est créé.",
    own: "De cette organisation", system: "Du système", members: "Qui l'a",
    empty: "Il n'y en a pas encore. Un rôle est un ensemble d'autorisations que l'on donne ensemble.",
    nobody: ["Personne ne l'a."],
    gone: "Ce rôle n'existe pas, ou plus.",
    notYours: "votre propre rôle ne l'a pas",
    columns: { name: "Nom", key: "Clé", permissions: "Autorisations", memberCount: "Membres",
               ...person, joinedAt: "Arrivée", userId: "Identifiant" },
    filters: { status: "Statut" },
    fields: { name: "Nom", key: "Clé", permissions: "Autorisations" },
    help: { key: "Un nom court pour les scripts, comme helpdesk. Il ne change plus ; sans lui, la clé est tirée du nom." },
    options: { permissions, status },
    acts: {
      remove: { verb: "Supprimer", title: "Supprimer {name} ?", done: "{name} est supprimé.",
                notes: ["Un rôle que quelqu'un a ne peut pas être supprimé : donnez-lui d'abord un autre rôle."] },
    },
  },
};
