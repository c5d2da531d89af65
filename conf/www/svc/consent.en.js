export default {
  allow: "Allow",
  clientWrong: "This application cannot sign you in",
  clientWrongNote: "Its request is not one that we can answer. Ask whoever runs it.",
  consent: "{client} asks for access",
  consentAs: "You are signed in as {name}.",
  consentAt: "At:",
  consentNote: "If you allow it, {host} may see or do this in your name:",
  refuse: "Refuse",
  scopes: {
    openid: "Know that it is you",
    profile: "See your name",
    email: "See your e-mail address",
    offline_access: "Do this also while you are away",
  },
  errors: {
    client_refused: "The application asks for what it may not have.",
    conflict: "Somebody else has signed in here. Please load this page again.",
  },
};
