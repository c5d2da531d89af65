export default {
  ask: "Voulez-vous vous déconnecter ?",
  askNote: "Une application à laquelle vous êtes connecté le demande.",
  over: "Vous êtes déconnecté",
  overNote: "Vous pouvez fermer cette fenêtre.",
  stay: "Rester connecté",
};
