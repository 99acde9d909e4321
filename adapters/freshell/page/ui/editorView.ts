/**
 * A text being edited, in CodeMirror. It is in a shadow root: there its style sheets are constructed ones, which the page's
 * policy allows. The file's line ends are kept.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView as CodeView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";

interface EditorViewOptions {
  readonly place: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly onChange: () => void;
  readonly onSave: () => void;
}

const THEME = CodeView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.45" },
  ".cm-gutters": { color: "var(--ink-quiet)", backgroundColor: "var(--sunken)", borderColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--sunken)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--sunken)" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--amber-line)" },
  ".cm-selectionBackground": { backgroundColor: "var(--line)" },
});

export class EditorView {
  readonly #view: CodeView;
  readonly #options: EditorViewOptions;

  constructor(options: EditorViewOptions) {
    const { place, text } = options;
    this.#options = options;
    const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
    this.#view = new CodeView({ state: this.#stateOf(text), root, parent: root });
  }

  get text(): string {
    return this.#view.state.sliceDoc();
  }

  set text(text: string) {
    this.#view.setState(this.#stateOf(text));
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }

  #stateOf(text: string): EditorState {
    const { onChange, onSave, label } = this.#options;
    const save = {
      key: "Mod-s",
      preventDefault: true,
      run: () => {
        onSave();
        return true;
      },
    };
    const extensions: Extension[] = [
      EditorState.lineSeparator.of(separatorOf(text)),
      lineNumbers(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      CodeView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      keymap.of([save, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
      CodeView.updateListener.of((update) => {
        if (update.docChanged) onChange();
      }),
      THEME,
    ];
    return EditorState.create({ doc: text, extensions });
  }
}

/** Uniform line ends are used for new lines too; otherwise lines end with LF, and a CR is part of the line. */
function separatorOf(text: string): string {
  const ends = text.match(/\n/g)?.length ?? 0;
  const both = text.match(/\r\n/g)?.length ?? 0;
  return ends > 0 && ends === both && (text.match(/\r/g)?.length ?? 0) === both ? "\r\n" : "\n";
}
