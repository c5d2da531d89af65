export default {
  unused: "This is kept, and nobody signs in by SAML yet: the two URLs answer 404 until that works.",
  fields: {
    idpEntityId: "Entity ID of the identity provider", idpSsoUrl: "URL of sign-in",
    idpCertificates: "Certificates", nameIdFormat: "How it names people",
  },
  help: {
    enabled: "It has no effect yet. Then all of the identity provider has to be there.",
    idpSsoUrl: "Where people are sent to sign in. It begins with https://.",
    idpCertificates: "As PEM, up to five, one behind the other: what it signs with. RSA of 2,048 bits or more, or EC.",
  },
  options: {
    nameIdFormat: { emailAddress: "by the e-mail address", persistent: "by a name that stays",
                    transient: "by another name each time", unspecified: "as it likes" },
  },
  urls: { spEntityId: "Our entity ID", acsUrl: "Where it sends people back (ACS)" },
};
