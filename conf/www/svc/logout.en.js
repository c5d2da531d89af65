export default {
  ask: "Do you want to sign out?",
  askNote: "An application that you have signed in to wants you to.",
  over: "You are signed out",
  overNote: "You can close this window.",
  stay: "Stay signed in",
};
