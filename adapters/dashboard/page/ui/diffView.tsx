/** What would be changed in files: each line with its sign, so that nothing is said by colour alone. */
import type { Diff, FileDiff, Sign } from "../model/diff.ts";

const KINDS: Readonly<Record<Sign, string>> = { "+": "added", "-": "removed", " ": "kept" };

export const DiffView = ({ diff: { files, more } }: { readonly diff: Diff }) => (
  <>
    {files.map((file, at) => (
      <FileView key={at} file={file} />
    ))}
    {more === 0 ? null : <p class="quiet hint">… {more === 1 ? "1 more file" : `${more} more files`}</p>}
  </>
);

function FileView({ file: { path, whole, lines, more } }: { readonly file: FileDiff }) {
  const widest = Math.max(0, ...lines.map(({ number }) => number?.length ?? 0));
  const count = (sign: Sign): number => lines.filter((line) => line.sign === sign).length;
  const title = path === "" ? "a file" : path;
  return (
    <figure class="diff">
      <figcaption>
        <code class="diff-path">{title}</code>{" "}
        <span class="quiet">{whole ? "its whole content" : `+${count("+")} −${count("-")}`}</span>
      </figcaption>
      {/* What scrolls can be scrolled by keys. */}
      <pre tabIndex={0} role="region" aria-label={`Changes to ${title}`}>
        {lines.map(({ sign, text, number }, at) => (
          <span key={at} class={`diff-line ${KINDS[sign]}`}>
            {widest === 0 ? null : <span class="quiet">{(number ?? "").padStart(widest)} </span>}
            {sign}
            {text}
          </span>
        ))}
      </pre>
      {more === 0 ? null : <p class="diff-more">… {more === 1 ? "1 more line" : `${more} more lines`}</p>}
    </figure>
  );
}
