export default {
  clientId: "Client-ID", issuer: "Aussteller (Issuer)", secret: "Geheimnis des Clients",
  settings: "Für eine OpenID-Connect-Bibliothek",
  metadata: "Alle Adressen, wie eine Bibliothek sie liest",
  token: "Ein Token, aus einem Terminal",
  rotate: "Neues Geheimnis", title: "Ein neues Geheimnis für {name}", made: "Das neue Geheimnis von {name}",
  note: "Das alte gilt noch eine Weile, damit jeder Server, der es benutzt, das neue bekommen kann.",
  until: "Das alte Geheimnis:", dead: "es gilt nicht mehr.",
  fields: { graceSeconds: "Das alte Geheimnis", revokeTokens: "Auch alle ausgegebenen Token beenden" },
  help: { revokeTokens: "Wenn jemand anderes das Geheimnis gehabt haben kann. Lassen Sie das alte dann sofort ungültig werden." },
  options: { graceSeconds: { 0: "gilt sofort nicht mehr", 3600: "gilt noch 1 Stunde",
                             86400: "gilt noch 24 Stunden" } },
};
