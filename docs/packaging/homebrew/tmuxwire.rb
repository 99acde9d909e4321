# A tap's formula. It installs nothing as it stands here: no release is out, and the zeros below are a place for the sum.
# At each release (docs/packaging/README.md, "A release", step 3) the tap's copy gets the release's `url` and, as `sha256`,
# what `shasum -a 256 tmuxwire-VERSION.tgz` prints for the tarball that is attached to that release.
class Tmuxwire < Formula
  desc "Daemon that drives tmux: exact input, streams, waits, recordings"
  homepage "https://github.com/tmuxwire/tmuxwire"
  url "https://github.com/tmuxwire/tmuxwire/releases/download/v0.1.0/tmuxwire-0.1.0.tgz"
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
