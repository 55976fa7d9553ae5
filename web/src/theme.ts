/** The theme: light, dark, or that of the system. */

export type Choice = "auto" | "light" | "dark";

const KEPT = "cuetrail.theme";
export const CHANGED = "cuetrail-theme";
export const system = matchMedia("(prefers-color-scheme: dark)");

export function chosenTheme(): Choice {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function chooseTheme(choice: Choice): void {
  if (choice === "auto") localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, choice);
  apply();
  dispatchEvent(new Event(CHANGED));
}

export const currentTheme = (): "light" | "dark" => {
  const choice = chosenTheme();
  return choice === "auto" ? (system.matches ? "dark" : "light") : choice;
};

export function apply(): void {
  document.documentElement.dataset["theme"] = currentTheme();
}
