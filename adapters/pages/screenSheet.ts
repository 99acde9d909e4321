/**
 * xterm's DOM renderer writes `<style>` elements and `style` attributes, which `style-src 'self'` refuses. The bundle
 * (`bundlePage.mjs`) turns the attributes into changes through the CSSOM, and the elements into this one: its text is a
 * constructed style sheet of the document while the element is in it. The policy allows both.
 */

class ScreenSheet extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override set textContent(css: string) {
    this.#sheet.replaceSync(css);
  }

  override get textContent(): string {
    return "";
  }

  connectedCallback(): void {
    this.hidden = true;
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== this.#sheet);
  }
}

customElements.define("screen-sheet", ScreenSheet);
