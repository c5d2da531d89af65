export default {
  ask: "Möchten Sie sich abmelden?",
  askNote: "Eine Anwendung, bei der Sie angemeldet sind, wünscht das.",
  over: "Sie sind abgemeldet",
  overNote: "Sie können dieses Fenster schließen.",
  stay: "Angemeldet bleiben",
};
