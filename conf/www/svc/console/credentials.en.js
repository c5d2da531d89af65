export default {
  clientId: "Client id", issuer: "Issuer", secret: "Client secret",
  settings: "For an OpenID Connect library",
  metadata: "All addresses, as a library reads them",
  token: "A token, from a shell",
  rotate: "New secret", title: "A new secret for {name}", made: "The new secret of {name}",
  note: "The old one stays good for a while, so that each server that uses it can be given the new one.",
  until: "The old secret:", dead: "it is dead.",
  fields: { graceSeconds: "The old secret", revokeTokens: "End all tokens that were given, too" },
  help: { revokeTokens: "Where somebody else may have had the secret. Then let the old one die at once." },
  options: { graceSeconds: { 0: "dies at once", 3600: "is good for 1 hour more",
                             86400: "is good for 24 hours more" } },
};
