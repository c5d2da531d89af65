export default {
  unused: "Ceci est conservé, et personne ne se connecte encore par SAML : les deux URL répondent 404 jusqu'à ce que cela fonctionne.",
  fields: {
    idpEntityId: "Entity ID du fournisseur d'identité", idpSsoUrl: "URL de connexion",
    idpCertificates: "Certificats", nameIdFormat: "Comment il nomme les personnes",
  },
  help: {
    enabled: "Cela n'a pas encore d'effet. Tout du fournisseur d'identité doit alors être là.",
    idpSsoUrl: "Où les personnes sont envoyées pour se connecter. Elle commence par https://.",
    idpCertificates: "En PEM, jusqu'à cinq, l'un après l'autre : avec quoi il signe. RSA de 2 048 bits ou plus, ou EC.",
  },
  options: {
    nameIdFormat: { emailAddress: "par l'adresse e-mail", persistent: "par un nom qui reste",
                    transient: "par un autre nom chaque fois", unspecified: "comme il veut" },
  },
  urls: { spEntityId: "Notre Entity ID", acsUrl: "Où il renvoie les personnes (ACS)" },
};
