# A formula for a tap. It does not install as it is: there is no release yet, and the zeros below are a placeholder.
# For each release (docs/packaging/README.md, "A release", step 3) put the release's `url` into the tap's copy and, as
# `sha256`, the output of `shasum -a 256 tmuxwire-VERSION.tgz` for the tarball of that release.
class Tmuxwire < Formula
  desc "Daemon that drives tmux: exact input, streams, waits, recordings"
  homepage "https://github.com/tmuxwire/tmuxwire"
  url "https://github.com/tmuxwire/tmuxwire/releases/download/v0.2.0/tmuxwire-0.2.0.tgz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "node"
  depends_on "tmux"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink Dir["#{libexec}/bin/*"]
  end

  service do
    run [opt_bin/"tmuxwire", "serve"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tmuxwire --version")
  end
end
