const columns = {
  name: "Nom", status: "Statut", clientId: "Client id", lastUsedAt: "Dernier jeton",
  createdAt: "Créé", updatedAt: "Modifié", secretRotatedAt: "Secret créé",
};

export default {

  agents: {
    title: "Agents", one: "Agent", new: "Nouvel agent",
    note: "Appuyez sur K sur une ligne, puis sur Entrée, pour arrêter aussitôt un agent.",
    gone: "Il n'y a pas d'agent de ce nom, ou il n'y en a plus.",
    empty: ["Il n'y a pas encore d'agent.", "Un agent IA est une application dont quelqu'un répond, avec des plafonds à ce qu'elle peut faire, et un moyen de l'arrêter aussitôt."],
    killOne: "Arrêter {name}", killed: "{name} est déjà désactivé.",
    columns: {
      ...columns, "identity.owner": "Propriétaire", "review.status": "Revue",
      policy: "Plafonds", anomalies: "Inhabituel", tokens: "Jetons", lastSeenAt: "Dernier",
      allowed: "Plafond", reason: "Pourquoi", value: "Quoi",
    },
    filters: { status: "Statut", ownerId: "Propriétaire" },
    options: {
      status: { active: "actif", disabled: "désactivé", expired: "arrivé à terme", orphaned: "sans propriétaire" },
      "review.status": { never: "jamais revu", current: "revu", due: "à revoir" },
      allowed: { true: "en deçà", false: "au-delà" },
      reason: { disabled: "désactivé", scope: "portée", audience: "audience" },
    },
    scopes: { one: "{n} portée", other: "{n} portées" },
    audiences: { one: "{n} audience", other: "{n} audiences" },
    tabs: { one: "Agent", delegations: "Délégations", activity: "Activité" },
    application: "Comme application",
    statuses: {
      active: "Il obtient des jetons, dans ses plafonds.",
      disabled: "Il n'obtient aucun jeton, et tous ceux qu'il avait ont pris fin.",
      expired: "Son terme est passé : il n'obtient aucun jeton tant qu'il n'en a pas un autre.",
      orphaned: "Personne d'actif n'en répond. Donnez-lui un propriétaire.",
    },
    unusual: { one: "{n} chose est inhabituelle chez lui", other: "{n} choses sont inhabituelles chez lui" },

    ceilings: "Plafonds",
    ceilingsNote: "Le plus que ses jetons puissent avoir, quoi que dise l'application. Ils comptent aussi pour les jetons déjà donnés. Les jetons de l'application durent {ttl}.",
    fields: {
      maxTokenTtlSeconds: "Un jeton dure au plus", limitScopes: "Limiter ses portées",
      allowedScopes: "Portées", limitAudiences: "Limiter à qui ses jetons s'adressent",
      allowedAudiences: "Audiences", ownerId: "Propriétaire", expiresAt: "Terme", note: "Note",
    },
    help: {
      maxTokenTtlSeconds: "De 1 minute à 24 heures. Vide : aussi longtemps que le dit l'application.",
      allowedScopes: "Aucune : il n'obtient aucune portée.",
      allowedAudiences: "L'adresse d'une API par ligne, comparée en entier. Vide : pour personne.",
      ownerId: "Quelqu'un d'actif, qui en répond.",
      expiresAt: "À votre heure. Vide : il n'a pas de terme.",
      note: "Pour le journal d'audit.",
    },
    none: { maxTokenTtlSeconds: "aucun plafond", allowedScopes: "aucun plafond",
            allowedAudiences: "aucun plafond", ownerId: "personne", expiresAt: "aucun" },
    reviewIt: "Vérifier …", applied: "{name} a d'autres plafonds.",
    used: "Ce qu'il a utilisé en 30 jours",
    unused: "Il n'a obtenu aucun jeton en 30 jours : il n'y a rien à comparer.",
    sample: { one: "Sur {n} jeton des 30 derniers jours :", other: "Sur {n} jetons des 30 derniers jours :" },
    sampleMost: "Sur les {n} jetons les plus récents des 30 derniers jours :",
    noAudience: "aucune n'était nommée : ce serveur",
    usedScopes: "Portée", usedAudiences: "Audience",
    onlyUsed: "Inscrire ce qu'il a utilisé, et rien d'autre",
    reviewTitle: "Ce que ces plafonds feraient",
    summary: { unchanged: "Inchangés", shortened: "Auraient duré moins longtemps",
               refused: "Auraient été refusés" },
    tokens: { one: "{n} jeton", other: "{n} jetons" },
    live: "Valables en ce moment", wouldDie: "{n} sur {all} cesseraient aussitôt de l'être", narrow: "Auraient moins",
    why: "Ce qui serait refusé", apply: "Appliquer",

    identity: "Qui en répond",
    review: "Revue", due: "La prochaine est due le {time}.",
    attest: "J'ai vérifié : c'est juste", attested: "{name} est revu.",
    acts: {
      kill: { verb: "Arrêter", title: "Arrêter {name} ?", done: "{name} est arrêté. Tous ses jetons ont pris fin, et aucun ne redeviendra valable.",
              notes: ["Tous ses jetons prennent fin, et aucun ne redeviendra valable. Il n'en obtient pas de nouveau tant que personne ne le réactive.",
                      "Une API qui vérifie les jetons sans interroger ce serveur en accepte un jusqu'à son terme."] },
      revive: { verb: "Réactiver", title: "Réactiver {name} ?", done: "{name} peut de nouveau obtenir des jetons.",
                notes: ["Il peut obtenir de nouveaux jetons. Ceux qu'il avait ne redeviennent pas valables."] },
      reset: { verb: "Sans plafonds", title: "Retirer tous les plafonds de {name} ?",
               done: "{name} n'a plus de plafonds.",
               notes: ["Il peut faire tout ce que peut son application. S'il est désactivé, il est réactivé."] },
    },
  },

  settings: {
    title: "Réglages de tous les agents",
    fields: {
      orphanAction: "Un agent qui a perdu son propriétaire", orphanGraceHours: "Délai",
      maxDelegationDepth: "Qui peut agir l'un pour l'autre", reviewIntervalDays: "Une revue est due après",
    },
    units: { orphanGraceHours: "heures", maxDelegationDepth: "au plus", reviewIntervalDays: "jours" },
    options: { orphanAction: { none: "continue", disable: "est arrêté, après le délai" } },
    help: {
      orphanGraceHours: "Compté depuis qu'il a eu pour la dernière fois un propriétaire actif.",
      maxDelegationDepth: "Combien d'acteurs une chaîne peut avoir, de 1 à 5.",
    },
  },

  anomalies: {
    title: "Anomalies", one: "Anomalie",
    note: "Ce que les agents ne font pas d'habitude. Ce qui se répète est compté dans sa ligne.",
    empty: ["Rien d'inhabituel.", "Le serveur sait ce que chaque agent fait d'habitude ; ce qui s'en écarte figure ici jusqu'à ce que quelqu'un l'ait vu."],
    columns: {
      agentName: "Agent", severity: "Gravité", type: "Quoi", description: "Ce qu'on en sait",
      "details.occurrences": "Fois", "details.lastSeenAt": "Dernière",
      createdAt: "Première", clientId: "Identifiant client", id: "Identifiant",
    },
    filters: { severity: "Gravité", all: "Acquittées aussi" },
    options: {
      severity: { high: "haute", medium: "moyenne", low: "basse" },
      type: {
        token_burst: "Beaucoup de jetons d'un coup", new_ip: "Un autre réseau",
        new_country: "Un autre pays", scope_denied: "Des portées au-delà de son plafond",
        audience_denied: "Une API au-delà de son plafond", off_hours: "À une heure inhabituelle",
        disabled_use: "Utilisé bien que désactivé", expired_use: "Utilisé bien qu'arrivé à terme",
        new_subject: "Pour quelqu'un de nouveau", secret_reuse: "Un ancien secret a été utilisé",
      },
    },
    ack: "Acquitter", acked: { one: "{n} est acquittée.", other: "{n} sont acquittées." },
    delegations: "Pour qui il a agi", details: "Détails", seen: "Acquittée",
  },
};
