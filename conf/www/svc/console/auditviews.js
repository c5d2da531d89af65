// An entry of the audit log, and an incident, each at an address of its own.

import { h } from "../ui/draw.js";
import { BlockLink } from "./audit.js";
import { Around, factsOf, Told } from "./entry.js";
import { Facts } from "./facts.js";
import "./names.js";
import { SheetView } from "./object.js";

const EntryView = props => h(SheetView, {
  ...props, sheet: { ...props.sheet, facts: undefined },
  top: one => h("div", {},
    h(Facts, factsOf({ one, sheet: props.sheet, words: props.words })),
    h(Told, one), h(Around, { one, words: props.words })),
});

const IncidentView = props => h(SheetView, {
  ...props,
  top: one => h("div", { class: "panel" },
    h("p", {}, props.words.todo[one.type] ?? ""), h(Told, one),
    h(BlockLink, { one, words: props.words })),
});


export default { audit: { View: EntryView }, incidents: { View: IncidentView } };
