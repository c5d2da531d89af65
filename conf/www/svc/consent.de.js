export default {
  allow: "Erlauben",
  clientWrong: "Diese Anwendung kann Sie nicht anmelden",
  clientWrongNote: "Ihre Anfrage können wir nicht beantworten. Wenden Sie sich an den Betreiber.",
  consent: "{client} bittet um Zugriff",
  consentAs: "Sie sind als {name} angemeldet.",
  consentAt: "Bei:",
  consentNote: "Wenn Sie es erlauben, darf {host} in Ihrem Namen dies sehen oder tun:",
  refuse: "Ablehnen",
  scopes: {
    openid: "Wissen, dass Sie es sind",
    profile: "Ihren Namen sehen",
    email: "Ihre E-Mail-Adresse sehen",
    offline_access: "Das auch tun, wenn Sie nicht da sind",
  },
  errors: {
    client_refused: "Die Anwendung verlangt, was sie nicht haben darf.",
    conflict: "Hier hat sich inzwischen jemand anderes angemeldet. Bitte laden Sie diese Seite neu.",
  },
};
