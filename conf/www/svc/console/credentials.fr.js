export default {
  clientId: "Client id", issuer: "Émetteur (issuer)", secret: "Secret du client",
  settings: "Pour une bibliothèque OpenID Connect",
  metadata: "Toutes les adresses, telles qu'une bibliothèque les lit",
  token: "Un jeton, depuis un terminal",
  rotate: "Nouveau secret", title: "Un nouveau secret pour {name}", made: "Le nouveau secret de {name}",
  note: "L'ancien reste valable un moment, le temps de donner le nouveau à chaque serveur qui l'utilise.",
  until: "L'ancien secret :", dead: "il n'est plus valable.",
  fields: { graceSeconds: "L'ancien secret", revokeTokens: "Révoquer aussi tous les jetons déjà donnés" },
  help: { revokeTokens: "Si quelqu'un d'autre a pu avoir le secret. L'ancien doit alors cesser aussitôt d'être valable." },
  options: { graceSeconds: { 0: "cesse aussitôt d'être valable", 3600: "reste valable 1 heure",
                             86400: "reste valable 24 heures" } },
};
